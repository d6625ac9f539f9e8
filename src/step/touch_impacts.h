// Impacts where bodies touch (docs/decisions/0110). What closes within a fixed step and rebounds does so at its own
// share of the step, where the bodies are then, with the lever arms, normals and speeds that they have there. The trial
// takes them to where they are after it (bent_ways.h).
//
// Bodies that will touch, and all that touch them, are a cluster. Each goes from touch to touch by itself; the next
// touches of all of them are one problem, whose islands they are. Who meets another cluster begins again as one with
// it. Clusters with joints, with springs or with more than twelve contacts are left to the impact stage.
#pragma once

#include <array>

#include "step/impact.h"
#include "step/touch_search.h"

namespace slipstick {

class TouchImpacts {
 public:
  explicit TouchImpacts(const Model& model);  ///< keeps a reference

  struct Pass {
    ContactSet contacts;
    ImpactScratch scratch;
    ImpactResult result;
    // For whoever wants to know (`keep_places`), per body: where it is, and at which share of the trial.
    std::vector<Pose> pose;
    std::vector<double> share;
  };

  /// From now on: passes know where their bodies are.
  void keep_places(bool keep) { keeps_places_ = keep; }
  /// Reads the input until the next call. If anything is struck, copies the state to `restarted` with the velocities
  /// with which the trial begins, and says true. `threshold`: m/s of approach up to which an impact is plastic, and
  /// none of these.
  bool run(const StepInput& input, double threshold, ContactFinder* finder, StepSolver* ladder, State* restarted);

  /// Per body: it is in a cluster, and nobody else sees to its impacts in this trial. Empty: there is no cluster.
  std::span<const char> handled() const { return handled_; }
  /// Rows are linear from the start of the trial, and would hold what is apart at its end. All contacts, those of
  /// clusters with the gap with which the row is right there. False: they are all as given, and `raised` is not made.
  bool raise(const ContactSet& given, ContactSet* raised) const;
  /// What the impulses do to velocities at the end of the trial.
  void kick_end(State* end) const;

  std::span<const Pass> passes() const { return std::span<const Pass>(passes_).first(count_); }
  /// What `Pipe::add_impulses` wants of a pass.
  StepInput touching_at(const Pass& pass) const;
  const std::vector<Event>& events() const { return events_; }
  std::span<const int> struck() const { return struck_; }
  /// What the moments on a body that was struck are more than those of its touches, in body axes, N m s: they count at
  /// both ends of the trial, where it is turned in another way.
  Vec3 calc_turned_moment(int body, const Pose& end) const;
  /// J: what velocities gained at both ends of the trial beyond the energy of the impacts. `end`: before `kick_end`.
  double calc_energy_left(const State& end) const;

 private:
  struct Cluster {
    std::vector<int> bodies, pairs;
    double now = 0;                 ///< share of its last touch
    int touches = 0;                ///< so far
    bool strikes = false;           ///< in the pass at hand, at `now`
    std::vector<Contact> contacts;  ///< that touch then
  };
  struct EndGap {
    ContactKey key;
    double gap;
  };

  bool find_due();
  bool is_due(const Contact& contact) const;
  bool may_turn_in(const Contact& contact) const;
  int root_of(int body);
  void unite(int a, int b);
  void find_groups();
  bool make_clusters();
  void find_pairs();
  bool play(StepSolver* ladder);
  bool find_next(Cluster* cluster);
  double gather(Cluster* cluster, double share);
  bool collect(Pass* pass);
  void strike(Pass* pass, StepSolver* ladder);
  void take_impulses(const Cluster& cluster);
  void find_resting(const Cluster& cluster);
  bool look_at_ends();
  int find_pair_of(const ContactKey& key) const;
  bool moves(int body) const { return body >= 0 && model_.bodies[body].kind == BodyKind::Dynamic; }
  std::span<Cluster> clusters() { return std::span<Cluster>(clusters_).first(cluster_count_); }

  const Model& model_;
  std::vector<char> free_;  ///< per body: it can move, and neither joints nor springs are fastened to it
  BentWays ways_;
  TouchSearch search_;
  StepInput input_;
  double threshold_ = 0;
  bool keeps_places_ = false;
  std::vector<Twist> speed_;  ///< per body, of those with prescribed motion too
  std::vector<TouchPair> pairs_;
  std::vector<char> due_;                 ///< per contact: 1 closes, 2 may do so as it turns
  std::vector<int> root_, contacts_of_;   ///< per body: another one of its group, or itself; contacts of the group
  std::vector<char> left_, alarmed_;      ///< per group: it is left to the impact stage; something may touch
  std::vector<std::array<int, 2>> meet_;  ///< bodies that met on the way: one cluster from the beginning
  std::vector<Cluster> clusters_;
  std::size_t cluster_count_ = 0;
  std::vector<int> cluster_of_;  ///< per body, or -1
  std::vector<char> handled_, taking_part_;
  std::vector<int> struck_;
  std::vector<Vec3> moment_;  ///< per body: of all touches, in body axes at each
  std::vector<Pass> passes_;
  std::size_t count_ = 0;
  std::vector<Event> events_;
  std::vector<Twist> before_, after_;
  State touch_;  ///< bodies of clusters where they touch; the motion alone
  // Of pairs of clusters, at the end of the trial.
  std::vector<EndGap> end_gaps_;   ///< sorted
  std::vector<double> least_gap_;  ///< per pair; NaN: it is of no cluster
};

}  // namespace slipstick
