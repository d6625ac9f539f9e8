#include <slipstick/queries.h>

#include <algorithm>
#include <cmath>

#include "collision/box_tree.h"
#include "collision/contact_finder.h"
#include "collision/narrow_phase.h"
#include "collision/ray_cast.h"

namespace slipstick {

struct Queries::Impl {
  explicit Impl(const Model& m) : model(&m), finder(m) {
    for (std::size_t s = 0; s < m.shapes.size(); ++s) {
      (m.shapes[s].kind == ShapeKind::Plane ? planes : bounded).push_back(static_cast<std::int32_t>(s));
    }
  }

  const Model* model;
  ContactFinder finder;
  std::span<const PlacedShape> placed;
  std::vector<std::int32_t> planes, bounded;  ///< shapes
  std::vector<Bounds> bounds;                 ///< beside `bounded`
  BoxTree tree;
};

Queries::Queries(const Model& model) : impl_(std::make_unique<Impl>(model)) {}
Queries::~Queries() = default;
Queries::Queries(Queries&&) noexcept = default;
Queries& Queries::operator=(Queries&&) noexcept = default;

void Queries::update(const State& state) {
  Impl& impl = *impl_;
  impl.placed = impl.finder.place(state);
  impl.bounds.clear();
  for (const std::int32_t s : impl.bounded) impl.bounds.push_back(impl.finder.calc_bounds(s));
  impl.tree.build(impl.bounds);
}

std::optional<RayHit> Queries::cast_ray(const Vec3& origin, const Vec3& direction, double max_distance) const {
  const double length = direction.norm();
  if (!(length > 0) || !std::isfinite(length) || !origin.allFinite()) return std::nullopt;
  const Ray ray{origin, direction / length};
  std::optional<RayHit> best;
  const auto ask = [&](std::int32_t s) {
    double distance = best ? best->distance : max_distance;
    Vec3 normal;
    if (!slipstick::cast_ray(ray, impl_->placed[s], &distance, &normal)) return;
    if (best && distance == best->distance && s > best->shape) return;
    best = RayHit{s, impl_->model->shapes[s].body, distance, ray.origin + distance * ray.direction, normal};
  };
  for (const std::int32_t s : impl_->planes) ask(s);
  const Vec3 inverse = ray.direction.cwiseInverse();
  const auto near = [&](const Bounds& box) {
    double from = 0, to = best ? best->distance : max_distance;
    for (int k = 0; k < 3; ++k) {
      const double a = (box.low[k] - origin[k]) * inverse[k], b = (box.high[k] - origin[k]) * inverse[k];
      if (std::min(a, b) > from) from = std::min(a, b);
      if (std::max(a, b) < to) to = std::max(a, b);
    }
    return from <= to * (1 + 1e-12) + 1e-300;
  };
  impl_->tree.walk(near, [&](std::int32_t k) { ask(impl_->bounded[k]); });
  return best;
}

std::optional<ShapeGap> Queries::find_gap(int shape_a, int shape_b, double within) const {
  Contact names;
  names.key = {shape_a, shape_b, 0};
  std::vector<Contact> contacts;
  find_pair(impl_->placed[shape_a], impl_->placed[shape_b], names, within, &contacts);
  if (contacts.empty()) return std::nullopt;
  const auto least = std::min_element(contacts.begin(), contacts.end(),
                                      [](const Contact& x, const Contact& y) { return x.gap < y.gap; });
  return ShapeGap{shape_a, shape_b, least->gap, least->point_a, least->point_b, least->normal};
}

std::optional<NearPoint> Queries::find_nearest(const Vec3& point, double within) const {
  PlacedShape probe;  // a ball without size
  probe.kind = ShapeKind::Sphere;
  probe.center = point;
  std::optional<NearPoint> best;
  std::vector<Contact> contacts;
  const auto ask = [&](std::int32_t s) {
    contacts.clear();
    find_pair(impl_->placed[s], probe, {}, best ? std::min(within, best->distance) : within, &contacts);
    for (const Contact& c : contacts) {
      const bool nearer = !best || c.gap < best->distance || (c.gap == best->distance && s < best->shape);
      if (nearer) best = NearPoint{s, c.gap, c.point_a};
    }
  };
  for (const std::int32_t s : impl_->planes) ask(s);
  const auto near = [&](const Bounds& box) {
    const double most = best ? std::max(0.0, std::min(within, best->distance)) : within;
    return (point - point.cwiseMax(box.low).cwiseMin(box.high)).norm() <= most * (1 + 1e-12);
  };
  impl_->tree.walk(near, [&](std::int32_t k) { ask(impl_->bounded[k]); });
  return best;
}

void Queries::find_overlaps(double depth, std::vector<ShapeGap>* overlaps) const {
  overlaps->clear();
  const auto ask = [&](int a, int b) {
    const auto& shapes = impl_->model->shapes;
    if (shapes[a].body == shapes[b].body) return;
    if (const auto gap = find_gap(std::min(a, b), std::max(a, b), 0); gap && gap->gap < -depth) {
      overlaps->push_back(*gap);
    }
  };
  for (std::size_t i = 0; i < impl_->bounded.size(); ++i) {
    impl_->tree.find(impl_->bounds[i], [&](std::int32_t k) {
      if (k > static_cast<std::int32_t>(i)) ask(impl_->bounded[i], impl_->bounded[k]);
    });
    for (const std::int32_t plane : impl_->planes) ask(impl_->bounded[i], plane);
  }
  std::sort(overlaps->begin(), overlaps->end(), [](const ShapeGap& x, const ShapeGap& y) {
    return std::pair(x.shape_a, x.shape_b) < std::pair(y.shape_a, y.shape_b);
  });
}

}  // namespace slipstick
