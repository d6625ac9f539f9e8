// Problems with known answers as data: a scene, a step, and figures of the run.
#pragma once

#include <slipstick/scene.h>

#include <string>
#include <utility>
#include <vector>

namespace slipstick {

/// What a figure is read from.
struct KnownCourse {
  const Simulation* simulation = nullptr;  ///< at the end
  std::vector<Event> events;               ///< of the whole run

  WorldMotion motion(const char* body) const;
  /// The time of the n-th event of a kind (from 0); NaN if there is none.
  double time_of(EventKind kind, std::size_t n) const;
};

struct KnownFigure {
  const char* quantity;
  double reference, tolerance;  ///< absolute
  double (*value)(const KnownCourse& course);
  bool has_order = true;  ///< false: its error need not fall with the problem's order
};

struct KnownProblem {
  const char* name;
  const char* about;
  const char* scene;  ///< a shipped file (.yaml), or the text of a scene
  std::vector<std::pair<std::string, std::string>> set;
  double step, duration;
  double order;  ///< wanted; 0: the method is exact here, or has no order
  std::vector<KnownFigure> figures;
};

std::vector<KnownProblem> make_known_mechanisms();
std::vector<KnownProblem> make_known_contacts();

}  // namespace slipstick
