// Small models written by the tests themselves.
#pragma once

#include <gtest/gtest.h>
#include <slipstick/app/import.h>

#include <string>
#include <vector>

namespace slipstick::test {

inline Scene model_of(const std::string& text, const ImportOptions& options = {}, ImportReport* report = nullptr) {
  Result<Scene> scene = parse_model(text, "model.xml", options, report);
  if (scene) return std::move(scene).value();
  for (const Fault& fault : scene.faults()) ADD_FAILURE() << fault.text();
  return {};
}

inline std::vector<std::string> model_faults(const std::string& text, const ImportOptions& options = {}) {
  const Result<Scene> scene = parse_model(text, "model.xml", options);
  std::vector<std::string> lines;
  if (scene) return lines;
  for (const Fault& fault : scene.faults()) lines.push_back(fault.text());
  return lines;
}

/// The body of this name, or a failed test.
inline const Body& body_named(const Scene& scene, const std::string& name) {
  static const Body kNone;
  const auto index = scene.model.find_body(name);
  if (index && *index >= 0) return scene.model.bodies[*index];
  ADD_FAILURE() << "no body " << name;
  return kNone;
}

inline const std::string kUrdf = R"xml(<?xml version="1.0"?>
<robot name="arm">
  <link name="base"><collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
  <link name="upper">
    <inertial><origin xyz="0 0 0.5"/><mass value="2"/><inertia ixx="0.2" iyy="0.2" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.5"/><geometry><cylinder radius="0.03" length="0.6"/></geometry></collision>
  </link>
  <link name="tool">
    <inertial><mass value="0.5"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="slide">
    <inertial><mass value="1"/><inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <origin xyz="0 0 0.3"/><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="0.2" upper="1.5" effort="30" velocity="2"/><dynamics damping="0.4" friction="0.1"/>
  </joint>
  <joint name="flange" type="fixed"><origin xyz="0 0 1"/><parent link="upper"/><child link="tool"/></joint>
  <joint name="rail" type="prismatic">
    <origin xyz="1 0 0"/><parent link="base"/><child link="slide"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="1"/><mimic joint="shoulder" multiplier="0.5" offset="0.1"/>
  </joint>
</robot>
)xml";

inline const std::string kMjcf = R"xml(<mujoco model="leg">
  <compiler angle="degree"/>
  <option timestep="0.004" gravity="0 0 -10"/>
  <default>
    <geom density="500" friction="0.8"/>
    <default class="joints"><joint armature="0.02" damping="0.3" axis="0 1 0"/>
      <default class="stiff"><joint stiffness="12" springref="30"/></default>
    </default>
  </default>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="hip" pos="0 0 2" childclass="joints">
      <freejoint/>
      <geom type="box" size="0.1 0.2 0.3"/>
      <body name="thigh" pos="0 0 -0.3">
        <joint name="lift" class="stiff" range="-60 60"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.04"/>
        <body name="foot" pos="0 0 -0.5" gravcomp="0.5">
          <joint name="roll" axis="1 0 0" frictionloss="0.2"/>
          <joint name="pitch" pos="0 0 0.05"/>
          <geom type="sphere" size="0.06" condim="1"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><position joint="lift" kp="40" kv="2" forcerange="-9 9"/><motor joint="roll" gear="3" ctrlrange="-1 1"/></actuator>
  <keyframe><key name="up" qpos="0 0 3 1 0 0 0 0.2 0.1 -0.1" ctrl="0.5 1"/></keyframe>
</mujoco>
)xml";

}  // namespace slipstick::test
