#include "step/core_rows.h"

#include <algorithm>
#include <cmath>

#include "base/se3.h"
#include "collision/ray_cast.h"

namespace slipstick {

namespace {

constexpr std::uint32_t kCentralFeature = 0xFFFFFF00u;  // the first of 256: after all features of shapes
constexpr std::size_t kMaxRows = 256;
constexpr double kPiece = 0.1;         // rad: the way around a body that turns is cast in pieces
constexpr double kSameSide = 0.99;     // cosine: hits with such normals are answered by one row
constexpr double kKeptHeight = 0.999;  // of the height at the start: a core is never asked to come nearer in one step
constexpr double kSteady = 0.5;        // rad: how far the partner may turn after the hit until the row's time

}  // namespace

template <typename Use>
void CoreRows::for_each_hit(const State& from, FastPairs* fast, ContactFinder* finder, Use&& use) const {
  if (fast->pairs().empty()) return;
  const std::span<const PlacedShape> placed = finder->place(from);
  Hit hit;
  for (const FastPair& pair : fast->pairs())
    if (cast(pair, fast->core(pair).center, placed, fast, &hit)) use(hit);
}

bool CoreRows::find(const State& from, FastPairs* fast, ContactFinder* finder) {
  bool found = false;
  for_each_hit(from, fast, finder, [&](const Hit& hit) {
    keep(hit, fast);
    found = true;
  });
  return found;
}

CoreRows::First CoreRows::find_first(const State& from, FastPairs* fast, ContactFinder* finder) const {
  First first;
  for_each_hit(from, fast, finder, [&](const Hit& hit) {
    first.when = std::min(first.when, hit.when);
    first.near = first.near || hit.normal.dot(hit.start - hit.point) < fast->core(hit.pair).radius;
  });
  return first;
}

CoreRows::Passage CoreRows::find_passage(const State& from, FastPairs* fast, ContactFinder* finder) const {
  Passage first;
  if (fast->swept().empty()) return first;
  const std::span<const PlacedShape> placed = finder->place(from);
  Hit hit;
  for (const SweptPair& pair : fast->swept()) {
    for (const Vec3& corner : fast->corners(pair.mover)) {
      if (!cast({pair.mover, pair.partner, -1}, corner, placed, fast, &hit) || hit.when >= first.enters) continue;
      // Back from the end: what comes out of matter there, on a side that looks the other way, went through it.
      const Vec3 back = hit.point - hit.end;
      const double length = back.norm();
      double distance = length;
      Vec3 normal;
      if (!(length > 0) || !cast_ray({hit.end, back / length}, placed[pair.partner], &distance, &normal)) continue;
      if (normal.dot(hit.normal) < 0) first = {hit.when, hit.when + (1 - hit.when) * (1 - distance / length)};
    }
  }
  return first;
}

/// In the frame of the partner at the start of the step, in pieces.
bool CoreRows::cast(const FastPair& pair, const Vec3& core, std::span<const PlacedShape> placed, FastPairs* fast,
                    Hit* hit) const {
  const BodyPath way = fast->path(model_.shapes[pair.mover].body), frame = fast->path(model_.shapes[pair.partner].body);
  const auto at = [&](double t) {
    const Pose there = frame.at(t);
    return apply(frame.from, there.orientation.conjugate() * (apply(way.at(t), core) - there.position));
  };
  const double turn = frame.turn.norm() + (core.isZero(0) ? 0.0 : way.turn.norm());
  const int pieces = 1 + static_cast<int>(std::min(turn / kPiece, 200.0));
  hit->pair = pair;
  hit->start = at(0);
  hit->end = at(1);
  Vec3 last = hit->start;
  for (int k = 1; k <= pieces; ++k) {
    const Vec3 next = at(static_cast<double>(k) / pieces);
    const double length = (next - last).norm();
    double distance = length;
    if (length > 0 && cast_ray({last, (next - last) / length}, placed[pair.partner], &distance, &hit->normal)) {
      hit->point = last + distance / length * (next - last);
      hit->when = (k - 1 + distance / length) / pieces;
      return true;
    }
    last = next;
  }
  return false;
}

void CoreRows::keep(const Hit& hit, FastPairs* fast) {
  for (Row& row : rows_) {
    if (row.hit.pair.core != hit.pair.core || row.hit.pair.partner != hit.pair.partner) continue;
    if (row.hit.normal.dot(hit.normal) < kSameSide) continue;
    row.hit = hit;
    ++row.times;
    const double before = row.contact.gap;
    update_row(fast, &row);
    row.contact.gap = std::min(row.contact.gap, before);
    return;
  }
  if (rows_.size() >= kMaxRows) return;
  Row row;
  row.hit = hit;
  row.contact.key.feature = kCentralFeature + static_cast<std::uint32_t>(rows_.size());
  update_row(fast, &row);
  rows_.push_back(row);
}

/// n . (c - q) >= rho at the time tau h, with the turns of the last trial: c goes with its body's centre of mass, q and
/// n with the partner's. rho is how far the mover reaches beyond its core; from the second time on, in any position.
void CoreRows::update_row(FastPairs* fast, Row* row) const {
  const Hit& hit = row->hit;
  const Shape &mover = model_.shapes[hit.pair.mover], &partner = model_.shapes[hit.pair.partner];
  const BodyPath way = fast->path(mover.body), frame = fast->path(partner.body);
  const Core& core = fast->core(hit.pair);
  const double turn = frame.turn.norm() + (core.center.isZero(0) ? 0.0 : way.turn.norm());
  const double tau = turn > 0 ? std::min(1.0, hit.when + kSteady / turn) : 1.0;
  const Pose mover_then = way.at(tau), partner_then = frame.at(tau);
  const auto as_local = [&](const Vec3& d) { return Vec3(frame.from.orientation.conjugate() * d); };
  const Vec3 n = partner_then.orientation * as_local(hit.normal);
  const Vec3 q = partner_then.orientation * as_local(hit.point - frame.from.position);
  const Vec3 c = mover_then.orientation * core.center;
  const Vec3 down = mover_then.orientation.conjugate() * -n;
  double rho = std::max(core.radius, calc_support(fast->solid(hit.pair.mover), down) - down.dot(core.center));
  if (row->times > 0) rho = std::max(rho, (core.center - mover.pose.position).norm() + mover.bound);
  rho = std::min(rho, kKeptHeight * std::max(0.0, hit.normal.dot(hit.start - hit.point)));
  const double height = n.dot(way.from.position + c - frame.from.position - q);
  Contact& contact = row->contact;
  const bool first = hit.pair.mover < hit.pair.partner;
  contact.key.shape_a = std::min(hit.pair.mover, hit.pair.partner);
  contact.key.shape_b = std::max(hit.pair.mover, hit.pair.partner);
  contact.body_a = model_.shapes[contact.key.shape_a].body;
  contact.body_b = model_.shapes[contact.key.shape_b].body;
  contact.material_a = model_.shapes[contact.key.shape_a].material;
  contact.material_b = model_.shapes[contact.key.shape_b].material;
  contact.normal = first ? Vec3(-n) : n;
  contact.point_a = contact.point_b = hit.point;
  contact.gap = (height - rho) / tau;
  contact.central = true;
}

void CoreRows::append_to(ContactSet* contacts) const {
  for (const Row& row : rows_) contacts->contacts.push_back(row.contact);
}

bool CoreRows::opposes(const Contact& contact) const {
  return std::any_of(rows_.begin(), rows_.end(), [&](const Row& row) {
    const ContactKey &x = row.contact.key, &y = contact.key;
    return contact.limit < 0 && x.shape_a == y.shape_a && x.shape_b == y.shape_b &&
           row.contact.normal.dot(contact.normal) < 0;
  });
}

void CoreRows::put_into(ContactSet* contacts) const {
  std::erase_if(contacts->contacts, [](const Contact& contact) { return contact.central; });
  append_to(contacts);
  std::sort(contacts->contacts.begin(), contacts->contacts.end(),
            [](const Contact& x, const Contact& y) { return x.key < y.key; });
}

}  // namespace slipstick
