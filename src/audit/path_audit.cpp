#include "audit/path_audit.h"

#include <algorithm>
#include <cmath>

#include "audit/surface_tree.h"
#include "base/se3.h"

namespace slipstick {
namespace {

constexpr double kNever = 2;
constexpr double kOn = 1e-6;        // of the partner's ball: nearer is on the surface
constexpr int kMaxAdvances = 3000;  // then the rest of the way is sampled
constexpr double kPiece = 0.05;     // rad: of a way around an open surface

/// Does the segment go through the triangle?
bool crosses(const Vec3& p, const Vec3& q, const std::array<Vec3, 3>& corner) {
  const auto volume = [](const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
    return (b - a).cross(c - a).dot(d - a);
  };
  const double before = volume(corner[0], corner[1], corner[2], p), after = volume(corner[0], corner[1], corner[2], q);
  if (before == 0 || (before > 0) == (after > 0)) return false;
  int turns = 0;
  for (int k = 0; k < 3; ++k) turns += volume(p, q, corner[k], corner[(k + 1) % 3]) >= 0 ? 1 : -1;
  return turns == 3 || turns == -3;
}

}  // namespace

Vec3 PathAudit::Way::at(double t) const {
  const Pose here = partner->at(t);
  return here.orientation.conjugate() * (apply(mover->at(t), core) - here.position);
}

void PathAudit::check(FastPairs* fast, const Model& model, double start, double h, WorldVerdict* verdict) {
  for (const FastPair& pair : fast->pairs()) {
    const int mover = model.shapes[pair.mover].body, partner = model.shapes[pair.partner].body;
    Way way{&fast->path(mover), &fast->path(partner), fast->core(pair).center, 0};
    const double straight = (way.mover->move - way.partner->move).norm();
    const double arm = way.at(0).norm() + straight + 2 * way.core.norm();
    way.speed = straight + way.mover->turn.norm() * way.core.norm() + way.partner->turn.norm() * arm;
    const Solid& solid = fast->solid(pair.partner);
    const double size = fast->radius(pair.partner) > 0 ? fast->radius(pair.partner) : 1e-3 * solid.bound;
    const bool sheet = solid.is_surface() && solid.tree->is_sheet();
    const double when = sheet ? find_passage(way, solid) : find_entry(way, solid, size);
    if (when > 1) continue;
    if (verdict->crossed++ == 0) {
      verdict->first_crossed = {std::min(pair.mover, pair.partner), std::max(pair.mover, pair.partner),
                                pair.mover < pair.partner ? mover : partner,
                                pair.mover < pair.partner ? partner : mover, start + when * h};
    }
  }
}

/// Goes on by what the distance allows, which cannot be overstepped. What begins inside came from nobody knows where.
double PathAudit::find_entry(const Way& way, const Solid& solid, double size) const {
  const double on = kOn * size;
  const auto room = [&](double t) { return calc_any_room(solid, way.at(t)); };
  double t = 0, here = room(0);
  if (here > on || !(way.speed > 0)) return kNever;
  for (int k = 0; k < kMaxAdvances; ++k) {
    t += (here < -on ? -here : 4 * on) / way.speed;
    if (t > 1) t = 1;
    here = room(t);
    if (here > on) return t;
    if (t == 1) return kNever;
  }
  constexpr int kSamples = 1000;
  for (int k = 0; k <= kSamples; ++k)
    if (const double at = t + (1 - t) * k / kSamples; room(at) > on) return at;
  return kNever;
}

double PathAudit::find_passage(const Way& way, const Solid& sheet) const {
  const double turn = way.mover->turn.norm() + way.partner->turn.norm();
  const int pieces = 1 + static_cast<int>(std::min(turn / kPiece, 1000.0));
  Vec3 last = sheet.to_local(way.at(0));
  for (int k = 1; k <= pieces; ++k) {
    const Vec3 next = sheet.to_local(way.at(static_cast<double>(k) / pieces));
    Box3 box;
    box.include(last);
    box.include(next);
    bool through = false;
    sheet.tree->for_each_in(box, [&](int t) { through = through || crosses(last, next, sheet.tree->corners(t)); });
    if (through) return static_cast<double>(k) / pieces;
    last = next;
  }
  return kNever;
}

}  // namespace slipstick
