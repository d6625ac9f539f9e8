#include "step/touch_impacts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/se3.h"
#include "step/impact_stage.h"
#include "step/overlap.h"

namespace slipstick {

namespace {

/// Of TouchPair::length: what is this near when others touch takes part.
constexpr double kTakesPart = 1e-9;
/// Touches of a cluster within a trial: what comes after them is left to the rows.
constexpr int kMostTouches = 20;
/// Contacts of a cluster: larger ones are piles.
constexpr int kMostContacts = 12;
/// How often all begin again because clusters have met.
constexpr int kMostMeetings = 8;
/// How often a touch turns out to be later than another one.
constexpr int kMostEarlier = 8;
/// rad in a trial: what turns by less than this comes in where its rows say.
constexpr double kSlightTurn = 0.02;

bool has_restitution(const PairLaw& law) { return law.restitution > 0 || law.tangential_restitution > 0; }

double calc_kinetic_of(const Body& body, const Twist& v) {
  return 0.5 * (body.mass * v.linear.squaredNorm() + v.angular.dot(body.inertia * v.angular));
}

Twist sum_of(const Twist& a, const Twist& b) { return {a.linear + b.linear, a.angular + b.angular}; }

}  // namespace

TouchImpacts::TouchImpacts(const Model& model)
    : model_(model), free_(model.bodies.size(), 0), ways_(model), search_(model) {
  for (std::size_t i = 0; i < free_.size(); ++i) free_[i] = moves(static_cast<int>(i)) && model.bodies[i].dof > 0;
  const auto hold = [&](int body) {
    if (body >= 0) free_[body] = 0;
  };
  for (const Joint& joint : model.joints) hold(joint.a), hold(joint.b);
  for (const Spring& spring : model.springs) hold(spring.a), hold(spring.b);
}

// ---------------------------------------------------------------- who is near whom

/// Closes within the trial, and fast.
bool TouchImpacts::is_due(const Contact& contact) const {
  const State& state = *input_.state;
  const auto along = [&](int body, const Vec3& point) {
    if (body < 0) return Vec3(Vec3::Zero());
    const Pose& q = state.pose[body];
    return point_velocity(q, speed_[body], q.orientation.conjugate() * (point - q.position));
  };
  const auto falls = [&](int body) {
    return moves(body) ? Vec3(model_.bodies[body].gravity_scale * model_.gravity) : Vec3(Vec3::Zero());
  };
  const double w = contact.normal.dot(along(contact.body_a, contact.point_a) - along(contact.body_b, contact.point_b));
  const double a = contact.normal.dot(falls(contact.body_a) - falls(contact.body_b)), gap = std::max(contact.gap, 0.0);
  const double square = w * w + 2 * a * gap;
  const double later = std::max(square < 0 ? 0 : std::sqrt(square), w);
  return later > threshold_ && gap <= input_.h * (w + 0.5 * input_.h * std::max(a, 0.0));
}

/// Corners that nobody sees yet may come round and close.
bool TouchImpacts::may_turn_in(const Contact& contact) const {
  double turn = 0, closing = 0;
  for (const int body : {contact.body_a, contact.body_b}) {
    if (body < 0) continue;
    const double spin = speed_[body].angular.norm();
    turn = std::max(turn, spin * input_.h);
    closing += spin * model_.bodies[body].reach_radius +
               (body == contact.body_a ? 1 : -1) * contact.normal.dot(speed_[body].linear);
    if (moves(body)) closing += input_.h * model_.gravity.norm();
  }
  return turn > kSlightTurn && closing > threshold_ && contact.gap <= input_.h * closing;
}

/// Which contacts may touch and rebound. False: none.
bool TouchImpacts::find_due() {
  const std::vector<Contact>& contacts = input_.contacts->contacts;
  due_.assign(contacts.size(), 0);
  bool any = false;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Contact& contact = contacts[i];
    if (contact.limit >= 0 || contact.central || !has_restitution(law_of(model_, contact))) continue;
    due_[i] = is_due(contact) ? 1 : may_turn_in(contact) ? 2 : 0;
    any = any || due_[i];
  }
  return any;
}

int TouchImpacts::root_of(int body) {
  while (root_[body] != body) body = root_[body] = root_[root_[body]];
  return body;
}

void TouchImpacts::unite(int a, int b) {
  a = root_of(a), b = root_of(b);
  if (a == b) return;
  root_[std::max(a, b)] = std::min(a, b);
}

/// Who will touch, who touches or would by its weight within the trial, and who has met.
void TouchImpacts::find_groups() {
  const std::vector<Contact>& contacts = input_.contacts->contacts;
  root_.resize(model_.bodies.size());
  for (std::size_t i = 0; i < root_.size(); ++i) root_[i] = static_cast<int>(i);
  for (const std::array<int, 2>& pair : meet_) unite(pair[0], pair[1]);
  const double near = 0.5 * input_.h * calc_plastic_speed(model_, input_.h_nominal);
  const auto touches = [&](const Contact& contact) {
    return contact.limit < 0 && contact.gap <= near + kTakesPart * calc_touch_length(model_, contact);
  };
  for (std::size_t i = 0; i < contacts.size(); ++i)
    if ((due_[i] || touches(contacts[i])) && moves(contacts[i].body_a) && moves(contacts[i].body_b))
      unite(contacts[i].body_a, contacts[i].body_b);
  contacts_of_.assign(root_.size(), 0);
  left_.assign(root_.size(), 0);
  alarmed_.assign(root_.size(), 0);
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Contact& contact = contacts[i];
    if (contact.limit >= 0) continue;
    const int body = moves(contact.body_a) ? contact.body_a : contact.body_b;
    if (!moves(body)) continue;
    const int root = root_of(body);
    if (due_[i]) alarmed_[root] = 1;
    if (due_[i] == 1 || touches(contact)) ++contacts_of_[root];
    if (contact.central) left_[root] = 1;
  }
  for (std::size_t i = 0; i < root_.size(); ++i)
    if (moves(static_cast<int>(i)) && !free_[i]) left_[root_of(static_cast<int>(i))] = 1;
}

/// False: there are none.
bool TouchImpacts::make_clusters() {
  find_groups();
  cluster_count_ = 0;
  cluster_of_.assign(model_.bodies.size(), -1);
  handled_.assign(model_.bodies.size(), 0);
  for (std::size_t i = 0; i < root_.size(); ++i) {
    const int root = root_of(static_cast<int>(i));
    if (!alarmed_[root] || left_[root] || contacts_of_[root] > kMostContacts || !moves(static_cast<int>(i))) continue;
    if (cluster_of_[root] < 0) {  // a root is the first of its bodies
      if (cluster_count_ == clusters_.size()) clusters_.emplace_back();
      Cluster& cluster = clusters_[cluster_count_];
      cluster.bodies.clear(), cluster.pairs.clear(), cluster.contacts.clear();
      cluster.now = 0;
      cluster.touches = 0;
      cluster_of_[root] = static_cast<int>(cluster_count_++);
    }
    cluster_of_[i] = cluster_of_[root];
    clusters_[cluster_of_[i]].bodies.push_back(static_cast<int>(i));
    handled_[i] = 1;
  }
  if (cluster_count_ > 0) find_pairs();
  return cluster_count_ > 0;
}

/// Pairs of shapes of which a body is in a cluster, sorted: rows that were put behind the others are not.
void TouchImpacts::find_pairs() {
  pairs_.clear();
  const auto is_handled = [&](int body) { return body >= 0 && handled_[body] != 0; };
  const auto key = [](const TouchPair& pair) { return std::array{pair.shape_a, pair.shape_b}; };
  for (const Contact& contact : input_.contacts->contacts) {
    if (contact.limit >= 0 || contact.central || !(is_handled(contact.body_a) || is_handled(contact.body_b))) continue;
    TouchPair pair{contact.key.shape_a, contact.key.shape_b, contact.body_a, contact.body_b};
    if (!pairs_.empty() && key(pairs_.back()) == key(pair)) continue;
    pair.length = calc_touch_length(model_, contact);
    pair.rebounds = has_restitution(law_of(model_, contact));
    pairs_.push_back(pair);
  }
  std::sort(pairs_.begin(), pairs_.end(), [&](const TouchPair& a, const TouchPair& b) { return key(a) < key(b); });
  const auto same = [&](const TouchPair& a, const TouchPair& b) { return key(a) == key(b); };
  pairs_.erase(std::unique(pairs_.begin(), pairs_.end(), same), pairs_.end());
  for (std::size_t k = 0; k < pairs_.size(); ++k) {
    const TouchPair& pair = pairs_[k];
    const int a = pair.body_a < 0 ? -1 : cluster_of_[pair.body_a], b = pair.body_b < 0 ? -1 : cluster_of_[pair.body_b];
    if (a >= 0) clusters_[a].pairs.push_back(static_cast<int>(k));
    if (b >= 0 && b != a) clusters_[b].pairs.push_back(static_cast<int>(k));
  }
}

// ---------------------------------------------------------------- from touch to touch

/// Where the bodies of a cluster are at `share`: what touches goes into its `contacts`. The share at which something
/// has gone in on the way there, or infinity.
double TouchImpacts::gather(Cluster* cluster, double share) {
  cluster->contacts.clear();
  double earlier = kInfinity;
  for (const int k : cluster->pairs) {
    const TouchPair& pair = pairs_[k];
    for (const Contact& contact : search_.look(pair, share))
      if (contact.gap <= kTakesPart * pair.length) cluster->contacts.push_back(contact);
    if (pair.rebounds && !pair.rests && share > cluster->now && search_.has_gone_in(pair))
      earlier = std::min(earlier, search_.find(pair, cluster->now, share));
  }
  return earlier;
}

/// The next touch of a cluster after its last one, if there is any.
bool TouchImpacts::find_next(Cluster* cluster) {
  if (cluster->touches >= kMostTouches) return false;
  double share = kInfinity;
  for (const int k : cluster->pairs) {
    TouchPair& pair = pairs_[k];
    if (!pair.rebounds || pair.rests) continue;
    if (!pair.is_known) pair.next = search_.find(pair, cluster->now, kInfinity);
    pair.is_known = true;
    share = std::min(share, pair.next);
  }
  if (share > 1) return false;
  for (int k = 0; k < kMostEarlier; ++k) {
    const double earlier = gather(cluster, share);
    if (!(earlier < share)) break;
    share = earlier;
  }
  cluster->now = share;
  return true;
}

/// The contacts of the pass at hand. False: somebody meets one who is not in his cluster.
bool TouchImpacts::collect(Pass* pass) {
  pass->contacts.contacts.clear();
  bool alone = true;
  for (Cluster& cluster : clusters()) {
    if (!cluster.strikes) continue;
    for (const Contact& contact : cluster.contacts) {
      const int a = contact.body_a, b = contact.body_b;
      if (moves(a) && moves(b) && cluster_of_[a] != cluster_of_[b]) {
        meet_.push_back({a, b});
        alone = false;
      }
      pass->contacts.contacts.push_back(contact);
    }
  }
  std::sort(pass->contacts.contacts.begin(), pass->contacts.contacts.end(),
            [](const Contact& x, const Contact& y) { return x.key < y.key; });
  return alone;
}

/// P = M (v+ - v-) of each body.
void TouchImpacts::take_impulses(const Cluster& cluster) {
  for (const int i : cluster.bodies) {
    const Body& body = model_.bodies[i];
    const Vec3 spun = body.inertia * (after_[i].angular - before_[i].angular);
    Vec6 impulse;
    impulse << body.mass * (after_[i].linear - before_[i].linear), touch_.pose[i].orientation * spun;
    if (impulse.isZero(0)) continue;
    if (!ways_.is_struck(i)) {
      struck_.push_back(i);
      moment_[i].setZero();
    }
    ways_.strike(i, cluster.now, touch_.pose[i], after_[i], impulse);
    moment_[i] += spun;
  }
  for (const int k : cluster.pairs) pairs_[k].is_known = pairs_[k].rests = false;
  find_resting(cluster);
}

/// What leaves more slowly than a plastic impact may come does not rebound again, until others strike its bodies.
void TouchImpacts::find_resting(const Cluster& cluster) {
  for (const Contact& contact : cluster.contacts) {
    const auto along = [&](int body, const Vec3& point) {
      if (body < 0) return 0.0;
      const Pose& q = touch_.pose[body];
      return contact.normal.dot(point_velocity(q, after_[body], q.orientation.conjugate() * (point - q.position)));
    };
    const double leaving = along(contact.body_b, contact.point_b) - along(contact.body_a, contact.point_a);
    if (leaving < threshold_) pairs_[find_pair_of(contact.key)].rests = true;
  }
}

void TouchImpacts::strike(Pass* pass, StepSolver* ladder) {
  taking_part_.assign(model_.bodies.size(), 0);
  before_ = speed_;
  for (const Cluster& cluster : clusters()) {
    if (!cluster.strikes) continue;
    for (const int body : cluster.bodies) {
      taking_part_[body] = 1;
      ways_.find(body, cluster.now, &touch_.pose[body], &before_[body]);
    }
    for (const Contact& contact : cluster.contacts)
      for (const int body : {contact.body_a, contact.body_b})
        if (body >= 0 && model_.bodies[body].kind == BodyKind::Kinematic)
          ways_.find(body, cluster.now, &touch_.pose[body], &before_[body]);
  }
  ImpactInput impact;
  impact.step = touching_at(*pass);
  impact.taking_part = taking_part_;
  impact.plastic_speed = threshold_;
  after_ = before_;
  if (keeps_places_) {
    pass->pose = touch_.pose;
    pass->share.assign(model_.bodies.size(), 0.0);
    for (const Cluster& cluster : clusters())
      for (const int body : cluster.bodies)
        if (cluster.strikes) pass->share[body] = cluster.now;
  }
  const std::size_t listed = events_.size();
  pass->result = apply_impact(impact, ladder, &pass->scratch, &after_, &events_);
  for (std::size_t k = listed; k < events_.size(); ++k) {
    const int body = moves(events_[k].body_a) ? events_[k].body_a : events_[k].body_b;
    events_[k].time = input_.state->time + clusters_[cluster_of_[body]].now * input_.h;
  }
  for (Cluster& cluster : clusters()) {
    if (!cluster.strikes) continue;
    take_impulses(cluster);
    ++cluster.touches;
  }
}

/// Pairs of clusters at the end of the trial. True: something has gone in on the way that nobody saw coming.
bool TouchImpacts::look_at_ends() {
  end_gaps_.clear();
  least_gap_.assign(pairs_.size(), std::numeric_limits<double>::quiet_NaN());
  bool any = false;
  for (Cluster& cluster : clusters()) {
    for (const int k : cluster.pairs) {
      TouchPair& pair = pairs_[k];
      if (!std::isnan(least_gap_[k])) continue;  // of two clusters
      const std::vector<Contact>& contacts = search_.look(pair, 1);
      least_gap_[k] = search_.reach();
      for (const Contact& contact : contacts) {
        end_gaps_.push_back({contact.key, contact.gap});
        least_gap_[k] = std::min(least_gap_[k], contact.gap);
      }
      if (!pair.rebounds || pair.rests || cluster.touches >= kMostTouches || !search_.has_gone_in(pair)) continue;
      pair.next = search_.find(pair, cluster.now, 1);
      any = any || pair.next <= 1;
    }
  }
  std::sort(end_gaps_.begin(), end_gaps_.end(), [](const EndGap& a, const EndGap& b) { return a.key < b.key; });
  return any;
}

/// False: clusters have met.
bool TouchImpacts::play(StepSolver* ladder) {
  for (;;) {
    bool any = false;
    for (Cluster& cluster : clusters()) {
      cluster.strikes = find_next(&cluster);
      any = any || cluster.strikes;
    }
    if (!any) {
      if (look_at_ends()) continue;
      return true;
    }
    if (count_ == passes_.size()) passes_.emplace_back();
    if (!collect(&passes_[count_])) return false;
    strike(&passes_[count_], ladder);
    if (passes_[count_].result.happened) ++count_;
  }
}

bool TouchImpacts::run(const StepInput& input, double threshold, ContactFinder* finder, StepSolver* ladder,
                       State* restarted) {
  input_ = input;
  threshold_ = threshold;
  handled_.clear();
  struck_.clear();
  events_.clear();
  count_ = 0;
  const std::vector<Contact>& contacts = input.contacts->contacts;
  if (std::none_of(contacts.begin(), contacts.end(),
                   [&](const Contact& contact) { return has_restitution(law_of(model_, contact)); }))
    return false;
  speed_ = input.state->velocity;
  for (std::size_t i = 0; i < speed_.size(); ++i)
    if (model_.bodies[i].kind == BodyKind::Kinematic) speed_[i] = input.prescribed[i];
  if (!find_due()) return false;
  meet_.clear();
  moment_.resize(model_.bodies.size());
  for (int k = 0;; ++k) {
    if (k > kMostMeetings || !make_clusters()) {
      handled_.clear(), struck_.clear(), events_.clear();
      count_ = 0;
      return false;
    }
    if (k == 0) {
      touch_.time = input.state->time;
      touch_.pose = input.state->pose;
      touch_.velocity = input.state->velocity;
      touch_.axis = input.state->axis;
    }
    ways_.begin(input_, handled_);
    search_.begin(input_, ways_, threshold_, finder);
    struck_.clear();
    events_.clear();
    count_ = 0;
    if (play(ladder)) break;
  }
  if (struck_.empty()) return false;
  *restarted = *input.state;
  for (const int i : struck_) {
    ways_.finish(i);
    restarted->velocity[i] = sum_of(restarted->velocity[i], ways_.start_kick(i));
  }
  return true;
}

// ---------------------------------------------------------------- what the trial makes of it

StepInput TouchImpacts::touching_at(const Pass& pass) const {
  StepInput at = input_;
  at.state = &touch_;
  at.contacts = &pass.contacts;
  at.h = 0;
  return at;
}

int TouchImpacts::find_pair_of(const ContactKey& key) const {
  const auto place =
      std::lower_bound(pairs_.begin(), pairs_.end(), key, [](const TouchPair& pair, const ContactKey& k) {
        return std::array{pair.shape_a, pair.shape_b} < std::array{k.shape_a, k.shape_b};
      });
  const bool known = place != pairs_.end() && place->shape_a == key.shape_a && place->shape_b == key.shape_b;
  return known ? static_cast<int>(place - pairs_.begin()) : -1;
}

bool TouchImpacts::raise(const ContactSet& given, ContactSet* raised) const {
  if (handled_.empty()) return false;
  const auto motion = [&](int body, const Vec3& point) {
    if (body < 0) return Vec3(Vec3::Zero());
    const Pose& q = input_.state->pose[body];
    return point_velocity(q, ways_.calc_motion(body), q.orientation.conjugate() * (point - q.position));
  };
  bool any = false;
  for (std::size_t i = 0; i < given.contacts.size(); ++i) {
    const Contact& contact = given.contacts[i];
    const auto is_handled = [&](int body) { return body >= 0 && handled_[body] != 0; };
    if (contact.limit >= 0 || contact.central || !(is_handled(contact.body_a) || is_handled(contact.body_b))) continue;
    const int pair = find_pair_of(contact.key);
    if (pair < 0) continue;
    const auto own = std::lower_bound(end_gaps_.begin(), end_gaps_.end(), contact.key,
                                      [](const EndGap& end, const ContactKey& key) { return end.key < key; });
    const double end = own != end_gaps_.end() && own->key == contact.key ? own->gap : least_gap_[pair];
    const double gained = input_.h * contact.normal.dot(motion(contact.body_b, contact.point_b) -
                                                        motion(contact.body_a, contact.point_a));
    const double gap = end - gained;
    if (!(gap > contact.gap + kTakesPart * pairs_[pair].length)) continue;
    if (!any) *raised = given;
    any = true;
    raised->contacts[i].gap = gap;
  }
  return any;
}

Vec3 TouchImpacts::calc_turned_moment(int body, const Pose& end) const {
  const Mat3& inertia = model_.bodies[body].inertia;
  return inertia * (ways_.start_kick(body).angular + ways_.calc_end_kick(body, end).angular) - moment_[body];
}

void TouchImpacts::kick_end(State* end) const {
  for (const int i : struck_) end->velocity[i] = sum_of(end->velocity[i], ways_.calc_end_kick(i, end->pose[i]));
}

double TouchImpacts::calc_energy_left(const State& end) const {
  double energy = 0;
  for (const int i : struck_) {
    const Body& body = model_.bodies[i];
    const Twist &v = input_.state->velocity[i], &w = end.velocity[i];
    energy += calc_kinetic_of(body, sum_of(v, ways_.start_kick(i))) - calc_kinetic_of(body, v) +
              calc_kinetic_of(body, sum_of(w, ways_.calc_end_kick(i, end.pose[i]))) - calc_kinetic_of(body, w);
  }
  for (const Pass& pass : passes()) energy -= pass.result.energy_change;
  return energy;
}

}  // namespace slipstick
