#include "step/part_log.h"

#include <algorithm>
#include <cmath>

#include "base/se3.h"
#include "step/assemble.h"
#include "step/trial.h"

namespace slipstick {

namespace {

/// Points of a contact that are farther than this from a gap apart are those of a late contact (late_contacts.h).
constexpr double kForeseen = 1e-10;

}  // namespace

std::string_view name_of(PartKind kind) {
  switch (kind) {
    case PartKind::Motion:
      return "motion";
    case PartKind::Backward:
      return "backward";
    case PartKind::Impact:
      return "impact";
    case PartKind::Projection:
      return "projection";
    case PartKind::Fall:
      return "fall";
    case PartKind::Carried:
      return "carried";
    case PartKind::Correction:
      return "correction";
    case PartKind::Touch:
      return "touch";
    case PartKind::Early:
      return "early";
    case PartKind::Late:
      return "late";
  }
  return "part";
}

void PartLog::begin_step(const State& state) {
  parts_.clear();
  before_motion_ = false;
  if (on_) shown_ = state.velocity;
}

void PartLog::go_before_motion() { before_motion_ = on_ && !parts_.empty(); }

StepPart& PartLog::begin(PartKind kind, double time) {
  now_ = before_motion_ ? parts_.size() - 1 : parts_.size();
  StepPart& part = *parts_.emplace(parts_.begin() + static_cast<std::ptrdiff_t>(now_));
  part.kind = kind;
  part.time = time;
  part.gravity.resize(model_.bodies.size());
  part.load.resize(model_.bodies.size());
  part.lock.resize(model_.bodies.size());
  part.added.assign(model_.bodies.size(), Vec3::Zero());
  link_place_.assign(model_.joints.size() + model_.springs.size(), -1);
  return part;
}

/// Bodies that are not dynamic have no momentum: they show the velocity that their state has.
void PartLog::show_given(std::vector<Twist>* velocity) const {
  for (std::size_t i = 0; i < velocity->size(); ++i)
    if (model_.bodies[i].kind != BodyKind::Dynamic) (*velocity)[i] = before_motion_ ? shown_before_[i] : shown_[i];
}

void PartLog::begin_motion(const StepInput& input, const StepProblem& made) {
  if (!on_) return;
  before_motion_ = false;
  StepPart& part = begin(input.backward ? PartKind::Backward : PartKind::Motion, input.state->time);
  part.length = input.h;
  part.from = input.state->pose;
  part.place.assign(made.pose.begin(), made.pose.end());
  part.before = input.state->velocity;
  show_given(&part.before);
  early_gravity_.assign(model_.bodies.size(), {});
  early_load_.assign(model_.bodies.size(), {});
}

void PartLog::end_motion(const StepInput& input, const StepProblem& made, const Problem& solved,
                         const Solution& solution, const State& end) {
  if (!on_) return;
  StepPart& part = parts_[now_];
  part.to = end.pose;
  part.after = end.velocity;
  part.solved.resize(end.velocity.size());
  for (std::size_t i = 0; i < part.solved.size(); ++i)
    part.solved[i] = calc_body_twist(input, made.map, made.problem, solution.v, static_cast<int>(i));
  shown_before_ = shown_;
  shown_ = end.velocity;
  close(&part);
  const double least = kLoaded * calc_largest_normal(made, solution);
  std::size_t place = 0;
  for (std::size_t i = 0; i < made.equations->contacts.size(); ++i) {
    const ContactRows& rows = made.equations->contacts[i];
    const int row = made.map.contact_row[i];
    if (row < 0 || input.contacts->contacts[rows.contact].limit >= 0) continue;
    PartContact& contact = part.contacts[place++];
    contact.bent = made.contact_end.active && made.contact_end.held[i] != 0;
    if (!(solution.lambda[row] > least)) continue;
    double given = 0;  // the row's constant has the speeds of bodies with prescribed motion
    for (const bool of_b : {false, true}) {
      const int body = of_b ? rows.body_b : rows.body_a;
      if (body < 0 || made.map.column_of_body[body] >= 0) continue;
      const Vec6& half = of_b ? rows.row[0].b : rows.row[0].a;
      const Twist& v = input.prescribed[body];
      given += half.head<3>().dot(v.linear) + half.tail<3>().dot(v.angular);
    }
    contact.asked = given - solved.c[row];
  }
  for (PartContact& contact : part.contacts)
    if (contact.at_end) add_given_end(input, end, &contact);
}

/// Bodies with prescribed motion have another velocity at the end of a motion than the one that their state shows.
void PartLog::add_given_end(const StepInput& input, const State& end, PartContact* contact) const {
  for (const int i : {contact->body_a, contact->body_b}) {
    if (i < 0 || model_.bodies[i].kind != BodyKind::Kinematic) continue;
    const Pose& pose = end.pose[i];
    const Twist v = calc_kinematic_twist(model_.bodies[i], pose, end.time, input.h_nominal);
    const Twist more{v.linear - end.velocity[i].linear, v.angular - end.velocity[i].angular};
    const Vec3 point = 0.5 * (contact->point_a + contact->point_b);
    const Vec3 speed = point_velocity(pose, more, pose.orientation.conjugate() * (point - pose.position));
    contact->belt += (i == contact->body_b ? 1 : -1) * speed;
  }
}

void PartLog::begin_instant(PartKind kind, const StepInput& at, std::span<const Pose> places) {
  if (!on_) return;
  StepPart& part = begin(kind, at.state->time);
  part.from.assign(places.begin(), places.end());
  part.to = part.from;
  part.place = kind == PartKind::Touch ? part.from : at.state->pose;
}

void PartLog::end_instant(const StepInput& at, const ImpactScratch& scratch) {
  if (!on_) return;
  StepPart& part = parts_[now_];
  part.before = scratch.initial;
  part.after = part.solved = scratch.reached;
  show_given(&part.before);
  show_given(&part.after);
  for (std::size_t i = 0; i < part.solved.size(); ++i)
    if (model_.bodies[i].kind != BodyKind::Dynamic) part.solved[i] = at.prescribed[i];
  close(&part);
}

void PartLog::add_fall(const State& before, std::span<const Twist> after) {
  if (!on_) return;
  StepPart& part = begin(PartKind::Fall, before.time);
  part.from = part.to = part.place = before.pose;
  part.before = before.velocity;
  part.after.assign(after.begin(), after.end());
  show_given(&part.before);
  show_given(&part.after);
  part.solved = part.after;
  part.gravity = early_gravity_;
  part.load = early_load_;
  close(&part);
}

void PartLog::add_kick(PartKind kind, double time, const State& at, std::span<const Twist> before,
                       std::span<const Twist> after) {
  if (!on_) return;
  if (kind == PartKind::Late) before_motion_ = false;
  StepPart& part = begin(kind, time);
  part.from = part.to = part.place = at.pose;
  part.before.assign(before.begin(), before.end());
  part.after.assign(after.begin(), after.end());
  show_given(&part.before);
  show_given(&part.after);
  part.solved = part.after;
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    const Body& body = model_.bodies[i];
    if (body.kind != BodyKind::Dynamic) continue;
    part.load[i].force = body.mass * (part.after[i].linear - part.before[i].linear);
    part.load[i].moment = at.pose[i].orientation * (body.inertia * (part.after[i].angular - part.before[i].angular));
  }
}

void PartLog::add_correction(const State& before, const State& after) {
  if (!on_) return;
  before_motion_ = false;
  StepPart& part = begin(PartKind::Correction, before.time);
  part.from = part.place = before.pose;
  part.to = after.pose;
  part.before = before.velocity;
  part.after = part.solved = after.velocity;
}

/// No row says what holds a body where it is locked: it is what its momentum lacks there, and nothing of it acts along
/// a free direction.
void PartLog::close(StepPart* part) {
  const auto is_locked = [&](std::size_t i) {
    return model_.bodies[i].kind == BodyKind::Dynamic && model_.bodies[i].dof < 6;
  };
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    if (!is_locked(i)) continue;
    const auto body = static_cast<int>(i);
    PartImpulse sum{part->gravity[i].force + part->load[i].force,
                    part->gravity[i].moment + part->load[i].moment + part->added[i]};
    const auto add = [&](const Vec3& force, const Vec3& moment) {
      sum.force += force;
      sum.moment += moment;
    };
    for (const PartContact& contact : part->contacts) {
      if (contact.body_a != body && contact.body_b != body) continue;
      const double sign = contact.body_b == body ? 1 : -1;
      const Vec3 at = contact.central ? part->place[i].position : Vec3(0.5 * (contact.point_a + contact.point_b));
      add(sign * contact.impulse, sign * (Vec3(at - part->from[i].position).cross(contact.impulse) + contact.moment));
    }
    const auto joints = static_cast<int>(model_.joints.size());
    for (const PartLink& link : part->links) {
      const bool joint = link.link < joints;
      if ((joint ? model_.joints[link.link].a : model_.springs[link.link - joints].a) == body)
        add(link.on_a.force, link.on_a.moment);
      if ((joint ? model_.joints[link.link].b : model_.springs[link.link - joints].b) == body)
        add(link.on_b.force, link.on_b.moment);
    }
    const Body& of = model_.bodies[i];
    const Mat3 before = part->from[i].orientation.toRotationMatrix(),
               after = part->to[i].orientation.toRotationMatrix();
    const Vec3 way = part->to[i].position - part->from[i].position;
    const Vec3 linear = of.mass * (part->after[i].linear - part->before[i].linear) - sum.force;
    const Vec3 angular = after * (of.inertia * part->after[i].angular) -
                         before * (of.inertia * part->before[i].angular) +
                         way.cross(Vec3(of.mass * part->after[i].linear)) - sum.moment;
    part->lock[i] = {linear, angular};
    for (int k = 0; k < of.dof; ++k) {
      const Vec3 slide = of.free_basis().col(k).head<3>(), turn = before * Vec3(of.free_basis().col(k).tail<3>());
      part->lock[i].force -= slide.dot(linear) * slide;
      part->lock[i].moment -= turn.dot(angular) * turn;
    }
  }
}

// ---------------------------------------------------------------- impulses

/// As an impulse and its moment about the centre of mass at the start of the part, world.
PartImpulse PartLog::about_start(int body, const Vec6& impulse, const Pose& at) const {
  const Vec3 force = impulse.head<3>();
  const Vec3 moment = at.orientation * Vec3(impulse.tail<3>());
  return {force, moment + (at.position - parts_[now_].from[body].position).cross(force)};
}

void PartLog::add_known(int body, const Vec6& gravity, const Vec6& load, const Pose& at) {
  if (!on_) return;
  const auto add = [&](const Vec6& impulse, PartImpulse* sum) {
    const PartImpulse more = about_start(body, impulse, at);
    sum->force += more.force;
    sum->moment += more.moment;
  };
  add(gravity, &parts_[now_].gravity[body]);
  add(load, &parts_[now_].load[body]);
}

void PartLog::add_added(int body, const Vec3& moment) {
  if (on_) parts_[now_].added[body] = parts_[now_].place[body].orientation * moment;
}

void PartLog::add_early(int body, const Vec6& gravity, const Vec6& load) {
  if (!on_) return;
  early_gravity_[body] = about_start(body, gravity, parts_[now_].from[body]);
  early_load_[body] = about_start(body, load, parts_[now_].from[body]);
}

void PartLog::add_link(int link, int body_a, int body_b, const PairRow& impulse, std::span<const Pose> pose) {
  if (!on_) return;
  std::vector<PartLink>& links = parts_[now_].links;
  if (link_place_[link] < 0) {
    link_place_[link] = static_cast<int>(links.size());
    links.push_back({link, {}, {}});
  }
  PartLink& sum = links[link_place_[link]];
  const auto add = [&](int body, const Vec6& half, PartImpulse* on) {
    if (body < 0) return;
    const PartImpulse more = about_start(body, half, pose[body]);
    on->force += more.force;
    on->moment += more.moment;
  };
  add(body_a, impulse.a, &sum.on_a);
  add(body_b, impulse.b, &sum.on_b);
}

void PartLog::add_contact(const StepInput& input, const ContactRows& rows, std::span<const Pose> pose,
                          std::span<const double> impulse, bool at_end) {
  if (!on_) return;
  const bool touches = parts_[now_].kind == PartKind::Touch;
  if (touches) pose = parts_[now_].place;
  const bool in_middle = input.middle != nullptr && !input.backward && parts_[now_].kind == PartKind::Motion;
  const Contact& at = (in_middle ? *input.middle : *input.contacts).contacts[rows.contact];
  PartContact contact;
  contact.at_end = at_end;
  contact.time = parts_[now_].time + (at_end ? parts_[now_].length : 0);
  if (touches) contact.time += touch_length_ * std::max(share_of(at.body_a), share_of(at.body_b));
  contact.body_a = at.body_a;
  contact.body_b = at.body_b;
  contact.shape_a = at.key.shape_a;
  contact.shape_b = at.key.shape_b;
  contact.point_a = at.point_a;
  contact.point_b = at.point_b;
  contact.normal = at.normal;
  contact.gap = at.gap;
  contact.central = at.central;
  contact.anisotropic = rows.across != 1;
  contact.friction = rows.friction * std::max(1.0, rows.across);
  for (int k = 1; k < rows.count; ++k)
    contact.belt += rows.drift[k] / (k == 2 && rows.across > 0 ? rows.across : 1) * rows.direction[k].normalized();
  contact.foreseen =
      !contact.central && (at.point_b - at.point_a - at.gap * at.normal).norm() > kForeseen * (1 + at.point_a.norm());
  if (contact.foreseen) contact.gap = at.normal.dot(at.point_b - at.point_a);
  contact.carried = contact.foreseen &&
                    (at.point_b - at.point_a - contact.gap * at.normal).norm() > kForeseen * (1 + at.point_a.norm());
  for (int k = 0; k < std::min(static_cast<int>(impulse.size()), rows.count + rows.extra); ++k) {
    if (k < rows.count) {
      contact.impulse += impulse[k] * rows.direction[k];
      continue;
    }
    const int body = rows.body_b >= 0 ? rows.body_b : rows.body_a;
    const Vec6& half = rows.body_b >= 0 ? rows.at(k).b : rows.at(k).a;
    const double sign = rows.body_b >= 0 ? 1 : -1;
    contact.moment += sign * impulse[k] * (pose[body].orientation * Vec3(half.tail<3>()));
  }
  parts_[now_].contacts.push_back(contact);
}

}  // namespace slipstick
