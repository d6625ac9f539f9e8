#include "step/world_scale.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace slipstick {

namespace {

/// Of a body without shapes the radius of gyration; a point is as large as the scene.
double calc_lever(const Body& body, const WorldScale& scale) {
  if (body.reach_radius > 0) return body.reach_radius;
  const double gyration = std::sqrt(body.inertia.trace() / (2 * body.mass));
  return gyration > 0 ? gyration : scale.extent;
}

}  // namespace

WorldScale calc_world_scale(const Model& model, const State& state, double time) {
  WorldScale scale;
  scale.time = time;
  Eigen::AlignedBox3d box;
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const Body& body = model.bodies[i];
    box.extend(state.pose[i].position);
    if (body.kind != BodyKind::Dynamic || !(body.reach_radius > 0)) continue;
    if (scale.least_size == 0 || body.reach_radius < scale.least_size) scale.least_size = body.reach_radius;
  }
  if (!box.isEmpty() && box.diagonal().norm() > 0) scale.extent = box.diagonal().norm();
  if (scale.least_size == 0) scale.least_size = scale.extent;
  for (const Body& body : model.bodies) {
    if (body.kind != BodyKind::Dynamic) continue;
    const double speed = scale.crossing_speed(body);
    scale.weight_energy += body.mass * model.gravity.norm() * calc_lever(body, scale);
    scale.crossing_energy += 0.5 * body.mass * speed * speed;
  }
  return scale;
}

void update_places(const StepInput& input, const RowMap& map, Problem* problem) {
  problem->place.assign(problem->columns(), 0.0);
  for (std::size_t i = 0; i < map.column_of_body.size(); ++i) {
    const int column = map.column_of_body[i];
    if (column < 0) continue;
    const Body& body = input.model->bodies[i];
    const double reach = input.state->pose[i].position.norm() + body.reach_radius;
    // Orientations have an angle of one for the distance.
    problem->place[column] = (body.mass * reach * reach + body.inertia.trace()) / (input.h_nominal * input.h_nominal);
  }
}

}  // namespace slipstick
