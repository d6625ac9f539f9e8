// Impacts: compression and decompression of [AnitescuPotra97] as two problems of the ordinary type, h = 0.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "step/scheme.h"
#include "step/step_solver.h"

namespace slipstick {

/// How far the bounds of an island's friction are from what decompression found with them: f, now and a repeat before.
struct BoundSums {
  double size = 0;                     ///< largest impulse of compression
  double change = 0, last_change = 0;  ///< largest |f|
  double turn = 0, turned = 0;         ///< f . (f - f_before), |f - f_before|^2
};

struct ImpactScratch {
  Equations equations;  ///< rows of contacts, joints, axes and couplings alone
  RowMap map;
  Problem problem;
  Relaxed relaxed;
  Solution solution;
  std::vector<double> offset, before, restitution, fixed;
  std::vector<int> fixed_row;                    ///< of the friction block whose normal impulse is given, or -1
  std::vector<double> last_fixed, last_further;  ///< of the repeat before: bounds of friction, and what they led to
  std::vector<BoundSums> bounds;                 ///< of each island
  std::vector<char> answered;                    ///< columns of islands whose bounds stay
  std::vector<NormalOffset> normals;
  std::vector<Twist> initial, compressed;
  std::vector<Twist> reached;  ///< what the last impact or projection led to from `initial`
  VecX compression;
  // What the last impact or projection did altogether, N s.
  std::vector<double> joint_impulse;                   ///< per State::joint_impulse
  std::vector<std::array<double, 6>> contact_impulse;  ///< per contact and row
  std::vector<double> joint_compression;               ///< of its first phase alone
  std::vector<std::array<double, 6>> contact_compression;
};

/// What meets where. `input` has h = 0, the contacts that touch, and prescribed velocities at that instant.
struct ImpactInput {
  StepInput step;
  double closing_share = 1e-9;          ///< of calc_slow_speed, below which a contact is at rest and not an impact
  bool joints = false;                  ///< joint speeds that are not zero are an impact too (a start)
  bool keeps_joint_speed = false;       ///< joints keep the speeds they have: those close them (G v+ = G v-)
  bool plastic = false;                 ///< no restitution
  std::span<const Twist> acceleration;  ///< of the motion before, for the Zeno threshold
  double plastic_speed = 0;             ///< m/s of approach below which e = 0, where the options do not say
  std::span<const double> restitution;  ///< e per contact; empty: as the pairs of materials have it
  std::span<const char> taking_part;    ///< per body; empty: all. The velocities of others stay
  const Scheme* scheme = nullptr;       ///< whose joint rows; null: rigid joints, compliant ones take no part
};

struct ImpactResult {
  bool happened = false;
  bool guarded = false;                         ///< the law would have gained energy; the simplified one was taken
  LadderResult solve;                           ///< worst of the problems solved
  double friction_work = 0, energy_change = 0;  ///< J
};

/// If a contact closes (or a joint is violated), replaces `velocity` by the one after the impact and lists it:
///   compression    M (vc - v-) = J^T c,  0 <= n vc _|_ c_n >= 0, friction
///   decompression  M (v+ - vc) = sum e_j c_n,j n_j + J^T c',  0 <= n v+ + e'_j n v- _|_ c'_n >= 0
///                  friction of pair j bounded by mu (e_j c_n,j + c'_n,j), opposing t v+ + e_t t v-
/// Poisson: e_j = e; Newton: e'_j = e. Over the whole impact friction is bounded by mu times the whole normal impulse
/// (docs/decisions/0006). Simplified: v+ = (1 + e) vc - e v-, e = max e_j ([AnitescuPotra97] lemma 3.1, corrected),
/// which never gains energy and takes over where the others would. Moreau: one phase,
///   M (v+ - v-) = J^T c,  0 <= n v+ + e n v- _|_ c_n >= 0, friction bounded by mu c_n and opposing t v+ + e_t t v-
/// Zeno: e_j counts as 0 when e_j |n v-| <= max(1e-8 of calc_slow_speed, 0.01 h_nominal a_n), a_n the acceleration of
/// approach.
ImpactResult apply_impact(const ImpactInput& input, StepSolver* ladder, ImpactScratch* scratch,
                          std::vector<Twist>* velocity, std::vector<Event>* events);

/// The velocity nearest to `velocity` (kinetic energy) with G v = 0, n v = 0 for all contacts and t v = 0 for those
/// that stick: removes what alpha < 1 leaves of a slip that has ended ([methods 4.4]).
LadderResult project_velocity(const StepInput& input, std::span<const char> sticking, StepSolver* ladder,
                              ImpactScratch* scratch, std::vector<Twist>* velocity);

double calc_kinetic(const Model& model, std::span<const Twist> velocity);

}  // namespace slipstick
