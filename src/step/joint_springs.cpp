// Springs and dampers that are stiff for the step, taken at the end of their way (joint_ends.h).
#include <algorithm>
#include <cmath>

#include "base/se3.h"
#include "step/assemble.h"
#include "step/joint_ends.h"

namespace slipstick {

namespace {

/// h^2 k/m + h d/m from which a spring or damper is stiff for the step.
constexpr double kStiff = 1;

}  // namespace

void JointEnds::find_stiff(const StepInput& input, const Weights& w, const Equations& equations,
                           const StepProblem& made) {
  for (std::size_t i = 0; i < equations.springs.size(); ++i) {
    const SpringRows& spring = equations.springs[i];
    if (made.spring_before[i] > 0) continue;
    double mobility = 0;
    for (int r = 0; r < spring.count; ++r)
      mobility = std::max(mobility, calc_pair_mobility(*input.model, spring.body_a, spring.body_b, spring.row[r]));
    const double resistance = w.alpha * input.h * (w.gamma * input.h * spring.stiffness + spring.damping);
    if (resistance * mobility > kStiff) stiff_.push_back(static_cast<int>(i));
  }
  if (!stiff_.empty()) spring_start_ = equations.springs;
}

/// The impulse is -h (k phi + d phi_dot) with phi that of the end, or for alpha = gamma = 1/2 the mean of both ends,
/// which keeps the energy. phi_dot is what phi changes by in the step, over h: on a circle the row of the start sees a
/// rate of h v^2/(2 r) where nothing gets longer, and a stiff damper would do work on that.
void JointEnds::apply_springs(const StepInput& input, StepProblem* made) {
  const double h = input.h;
  for (const int i : stiff_) {
    const SpringRows& spring = made->equations->springs[i];
    const int row = made->map.spring_row[i];
    if (row < 0) continue;
    for (int r = 0; r < spring.count; ++r) {
      double moves = 0, given = 0;
      for (const bool of_b : {false, true}) {
        const int body = of_b ? spring.body_b : spring.body_a;
        if (body < 0) continue;
        const Vec6& part = of_b ? spring.row[r].b : spring.row[r].a;
        const double speed = part.head<3>().dot(way_[body].linear) + part.tail<3>().dot(way_[body].angular);
        (input.model->bodies[body].kind == BodyKind::Kinematic ? given : moves) += speed;
      }
      const double start = spring_start_[i].value[r],
                   end = linear_ ? start + h * given : spring_reached_[i].value[r] - h * moves;
      const double c = made->problem.compliance[row + r];  // 1/(alpha gamma h^2 k + alpha h d)
      const double stretch = two_sided_ ? 0.25 * (start + end) : end;
      const double rate = (two_sided_ ? 0.5 : 1) * (end - start) / h;
      made->problem.c[row + r] = c * h * (spring.stiffness * stretch + spring.damping * rate);
    }
  }
}

/// How far the elongation of the last pass is from the one that its impulse stands for, m or rad.
double JointEnds::calc_spring_error(const StepInput& input, const StepProblem& made, const Solution& solution,
                                    int i) const {
  double worst = 0;
  const SpringRows& spring = made.equations->springs[i];
  const int row = made.map.spring_row[i];
  const double part = two_sided_ ? 0.5 * input.h : input.h;
  for (int r = 0; r < spring.count && row >= 0; ++r) {
    const double start = spring_start_[i].value[r], reached = spring_reached_[i].value[r];
    const double found = two_sided_ ? 0.5 * (start + reached) : reached;
    const double given = solution.lambda[row + r] + part * spring.damping * (reached - start) / input.h;
    worst = std::max(worst, std::abs(part * spring.stiffness * found + given) /
                                (part * (spring.stiffness + spring.damping / input.h)));
  }
  return worst;
}

}  // namespace slipstick
