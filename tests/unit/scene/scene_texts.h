// Scenes that several tests of the reader use.
#pragma once

#include <slipstick/scene.h>

#include <string>
#include <vector>

namespace slipstick {

/// Every section and key of a scene in space.
inline const char* const kFullScene = R"yaml(slipstick: 1
name: wrecking ball
let: {n: 3, mu: 0.5, half: mu/2}
gravity: [0, 0, -9.81]
planar: false
seed: 7
materials:
  default: {friction: mu, restitution: 0}
  steel:   {friction: 0.3, restitution: 0.2, rolling_friction: 0, spinning_friction: 0}
material_pairs:
  - {between: [steel, default], friction: 0.4, restitution: 0.1}
defaults:
  brick: {mass: 2, material: steel, color: Tomato, shapes: [{box: {size: [1, half*2, 0.5]}}]}
bodies:
  - {name: ground, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: -1}}]}
  - like: brick
    repeat: {i: n, j: i + 1}
    name: brick_{i}_{j}
    position: [i + 0.5*(j % 2), 0, 0.25 + j/2]
  - name: ball
    position: [-5, 0, 2]
    orientation: {axis: [0, 1, 0], angle_deg: 30}
    velocity: [10, 0, 0]
    angular_velocity: [0, 2, 0]
    density: 1000
    lock: [y, rx, rz]
    shapes:
      - {sphere: {radius: 0.5}, position: [0, 0, 0.1], material: steel, color: "#c33"}
      - {capsule: {radius: 0.1, length: 2}, orientation: {rpy_deg: [0, 90, 0]}, density: 500, visual_only: true}
  - name: block
    orientation: [0, 0, 0, 2]
    mass: 4
    inertia: [1, 2, 2.5, 0.1, 0.2, 0.3]
    center_of_mass: [0.1, 0, 0]
    lock: rotation
  - {name: crane, position: [-5, 0, 8], kinematic: {velocity: ["sin(t)", 0, 0], angular_velocity: [0, 0, t]}}
joints:
  - ball:   {name: hook, between: [crane, ball], at: [-5, 0, 8], compliance: 1e-8, damping_time: 0.033}
  - hinge:  {between: [block, world], at: [0, 0, 0], axis: [0, 1, 0], collide: true}
  - slider: {name: rail, between: [world, brick_0_0], axis: [1, 0, 0]}
  - fixed:  {between: [brick_1_0, brick_1_1]}
  - rod:    {between: [brick_2_0, brick_2_1], at: [[0, 0, 0], [0, 0, 1]], length: 1.5}
  - distance: {between: [brick_2_1, brick_2_2]}
forces:
  - spring: {name: s, between: [ball, world], at: [[0, 0, 0], [0, 0, 1]], stiffness: 100, damping: 10, rest_length: 0.2}
  - damper: {between: [ball, block], damping: 3}
  - load:   {name: push, body: block, force: ["8*cos(t)", 0, 0], torque: [0, 0, 1], at: [0, 0, 0.5]}
pairs_without_contact:
  - [ball, ground]
  - {repeat: {i: n}, between: ["brick_{i}_0", ball]}
simulation:
  duration: 5
  step: 1/60
  scheme: {stabilized: {stabilization: 0.5}}
  solver: auto
  friction: {model: pyramid, facets: 2^3}
  tolerance: 1e-6
  restitution_threshold: 0.01
  threads: 1
record: {every: 2, contacts: false}
)yaml";

inline const char* const kPlanarScene = R"yaml(slipstick: 1
planar: true
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 1]}}, {plane: {}}]}
  - {name: wheel, mass: 2, position: [0, 1], velocity: [1, 2], angular_velocity: -3, shapes: [{disk: {radius: 0.5}}]}
  - name: crate
    orientation: 90
    density: 10
    shapes:
      - {box: {size: [2, 1]}, position: [0.5, 0], orientation: {angle_deg: 45}}
      - {polygon: {points: [[0, 0], [1, 0], [0, 1]]}}
  - {name: arm, mass: 1, inertia: 0.5, position: [2, 2, 0]}
  - {name: belt, kinematic: {velocity: [1, t], angular_velocity: t}}
joints:
  - hinge: {between: [arm, world], at: [2, 2]}
  - slider: {between: [crate, world], axis: [1, 0]}
forces:
  - load: {body: wheel, force: [1, 0], torque: sin(t)}
)yaml";

/// The faults of a text as lines, or "ok".
inline std::vector<std::string> lines_of(const Result<Scene>& result) {
  if (result.ok()) return {"ok"};
  std::vector<std::string> lines;
  for (const Fault& fault : result.faults()) lines.push_back(fault.text());
  return lines;
}

inline std::vector<std::string> faults_of(const std::string& text, const SceneLoadOptions& options = {}) {
  return lines_of(parse_scene(text, "s.yaml", options));
}

}  // namespace slipstick
