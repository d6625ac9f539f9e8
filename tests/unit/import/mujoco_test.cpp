// The reader of MJCF against MuJoCo's own (libmujoco, where it is installed): masses, poses, axes, ranges to 1e-9;
// motion without contact within the error of our integrator, whose order shows.
#ifdef SLIPSTICK_MUJOCO
#include <mujoco/mujoco.h>
#include <slipstick/simulation.h>
#include <slipstick/surface.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "unit/import/import_support.h"

namespace slipstick::test {
namespace {

namespace fs = std::filesystem;

struct MujocoModel {
  explicit MujocoModel(const std::string& path) {
    char error[1000] = "";
    model = mj_loadXML(path.c_str(), nullptr, error, sizeof error);
    if (model == nullptr) {
      problem = error;
      return;
    }
    data = mj_makeData(model);
  }
  ~MujocoModel() {
    if (data != nullptr) mj_deleteData(data);
    if (model != nullptr) mj_deleteModel(model);
  }
  MujocoModel(const MujocoModel&) = delete;
  MujocoModel& operator=(const MujocoModel&) = delete;

  std::string name(int type, int id) const {
    const char* given = mj_id2name(model, type, id);
    return given != nullptr ? given : "";
  }
  Pose pose(int body) const {
    const double *p = data->xpos + 3 * body, *q = data->xquat + 4 * body;
    return {Vec3(p[0], p[1], p[2]), Quat(q[0], q[1], q[2], q[3])};
  }
  mjModel* model = nullptr;
  mjData* data = nullptr;
  std::string problem;
};

/// Mass, centre and inertia about it, world, of all bodies that are one with `root`.
struct Lump {
  double mass = 0;
  Vec3 center = Vec3::Zero();
  Mat3 inertia = Mat3::Zero();
};
Lump calc_lump(const MujocoModel& mj, int root) {
  Lump lump;
  const auto each = [&](auto use) {
    for (int b = 1; b < mj.model->nbody; ++b)
      if (mj.model->body_weldid[b] == root) use(b, Vec3(Eigen::Map<const Vec3>(mj.data->xipos + 3 * b)));
  };
  each([&](int b, const Vec3& at) {
    lump.mass += mj.model->body_mass[b];
    lump.center += mj.model->body_mass[b] * at;
  });
  lump.center /= lump.mass;
  each([&](int b, const Vec3& at) {
    const Mat3 turn = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(mj.data->ximat + 9 * b);
    const Vec3 moments = Eigen::Map<const Vec3>(mj.model->body_inertia + 3 * b), arm = at - lump.center;
    lump.inertia += turn * moments.asDiagonal() * turn.transpose() +
                    mj.model->body_mass[b] * (arm.squaredNorm() * Mat3::Identity() - arm * arm.transpose());
  });
  return lump;
}

double distance(const Quat& a, const Quat& b) {
  return std::min((a.coeffs() - b.coeffs()).norm(), (a.coeffs() + b.coeffs()).norm());
}

/// The poses with qpos as our start has it: joints that are outside of their range begin at its end.
void set_start(const Scene& scene, const MujocoModel& mj) {
  mj_resetData(mj.model, mj.data);
  for (const JointDescription& joint : scene.description.joints) {
    const int id = mj_name2id(mj.model, mjOBJ_JOINT, joint.name.c_str());
    if (id >= 0 && joint.axes.size() == 1 && mj.model->jnt_type[id] >= mjJNT_SLIDE)
      mj.data->qpos[mj.model->jnt_qposadr[id]] = joint.axes[0].start;
  }
  mj_kinematics(mj.model, mj.data);
  mj_comPos(mj.model, mj.data);
}

/// Inertias to 1e-8: MuJoCo keeps principal moments, and its eigenvectors are good to that. Matter of meshes to 1e-6:
/// it keeps their vertices in single precision.
void compare_bodies(const Scene& scene, const MujocoModel& mj) {
  const double good = mj.model->nmesh > 0 ? 1e-6 : 1e-9;
  double mass = 0, our_mass = 0;
  int lumps = 0;
  for (int b = 1; b < mj.model->nbody; ++b) {
    if (mj.model->body_weldid[b] != b) continue;
    ++lumps;
    const std::string name = mj.name(mjOBJ_BODY, b);
    const auto index = scene.model.find_body(name);
    ASSERT_TRUE(index && *index >= 0) << name;
    const Body& body = scene.model.bodies[*index];
    const Lump lump = calc_lump(mj, b);
    mass += lump.mass;
    our_mass += body.mass;
    EXPECT_NEAR(body.mass, lump.mass, good * lump.mass) << name;
    // A State has the poses of the centres of mass.
    const Pose& at = scene.initial.pose[*index];
    EXPECT_LT((at.position - lump.center).norm(), good) << name;
    EXPECT_LT(distance(at.orientation, mj.pose(b).orientation), 1e-9) << name;
    const Mat3 turn = at.orientation.toRotationMatrix();
    EXPECT_LT((turn * body.inertia * turn.transpose() - lump.inertia).norm(), 10 * good * lump.inertia.norm()) << name;
  }
  EXPECT_NEAR(mass, our_mass, good * mass);
  EXPECT_GT(lumps, 0);
}

/// Joints that are joints of ours by themselves.
int compare_joints(const Scene& scene, const MujocoModel& mj) {
  int compared = 0;
  for (const JointDescription& joint : scene.description.joints) {
    const int id = mj_name2id(mj.model, mjOBJ_JOINT, joint.name.c_str());
    if (id < 0 || (joint.kind != JointKind::Hinge && joint.kind != JointKind::Slider)) continue;
    ++compared;
    EXPECT_LT((joint.axis.normalized() - Vec3(Eigen::Map<const Vec3>(mj.data->xaxis + 3 * id))).norm(), 1e-9)
        << joint.name;
    if (joint.kind == JointKind::Hinge) {
      const Vec3 arm = joint.at - Vec3(Eigen::Map<const Vec3>(mj.data->xanchor + 3 * id));
      EXPECT_LT(arm.norm(), 1e-9) << joint.name;
    }
    const AxisDescription axis = joint.axes.empty() ? AxisDescription{} : joint.axes[0];
    EXPECT_EQ(axis.limits.has_value(), mj.model->jnt_limited[id] != 0) << joint.name;
    if (axis.limits) {
      EXPECT_NEAR((*axis.limits)[0], mj.model->jnt_range[2 * id], 1e-9) << joint.name;
      EXPECT_NEAR((*axis.limits)[1], mj.model->jnt_range[2 * id + 1], 1e-9) << joint.name;
    }
    const int dof = mj.model->jnt_dofadr[id];
    EXPECT_NEAR(axis.armature, mj.model->dof_armature[dof], 1e-12) << joint.name;
    EXPECT_NEAR(axis.damping, mj.model->dof_damping[dof], 1e-12) << joint.name;
    EXPECT_NEAR(axis.friction, mj.model->dof_frictionloss[dof], 1e-12) << joint.name;
    EXPECT_NEAR(axis.stiffness, mj.model->jnt_stiffness[id], 1e-12) << joint.name;
    if (axis.stiffness != 0) {
      EXPECT_NEAR(axis.rest, mj.model->qpos_spring[mj.model->jnt_qposadr[id]], 1e-9) << joint.name;
    }
  }
  return compared;
}

/// How far a shape of ours is from being that geom: place, size, axes. Infinite: it is of another kind.
double calc_distance(const BodyDescription& body, const ShapeDescription& shape, const MujocoModel& mj, int geom) {
  const Vec3 at = Eigen::Map<const Vec3>(mj.data->geom_xpos + 3 * geom);
  const Mat3 turn = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(mj.data->geom_xmat + 9 * geom);
  const Vec3 size = Eigen::Map<const Vec3>(mj.model->geom_size + 3 * geom);
  const Mat3 ours = (body.pose.orientation * shape.pose.orientation).toRotationMatrix();
  const double apart = (body.pose.position + body.pose.orientation * shape.pose.position - at).norm();
  const int type = mj.model->geom_type[geom];
  const auto is = [&](int theirs, ShapeKind kind) { return type == theirs && shape.kind == kind; };
  if (is(mjGEOM_SPHERE, ShapeKind::Sphere)) return apart + std::abs(shape.radius - size[0]);
  if (is(mjGEOM_CAPSULE, ShapeKind::Capsule) || is(mjGEOM_CYLINDER, ShapeKind::Cylinder))
    return apart + std::abs(shape.radius - size[0]) + std::abs(shape.length / 2 - size[1]) +
           ours.col(2).cross(turn.col(2)).norm();
  if (!is(mjGEOM_BOX, ShapeKind::Box) && !is(mjGEOM_ELLIPSOID, ShapeKind::Ellipsoid)) return kInfinity;
  // As tensors: which way an axis points, and which of two equal ones is first, does not matter.
  const Mat3 a = ours * (shape.size / 2).cwiseAbs2().asDiagonal() * ours.transpose();
  return apart + (a - turn * size.cwiseAbs2().asDiagonal() * turn.transpose()).norm();
}

/// Each of its primitive geoms is a shape of ours.
void compare_primitives(const Scene& scene, const MujocoModel& mj) {
  for (int g = 0; g < mj.model->ngeom; ++g) {
    const int type = mj.model->geom_type[g];
    if (type == mjGEOM_MESH || type == mjGEOM_PLANE || type == mjGEOM_HFIELD) continue;
    double best = kInfinity;
    for (const BodyDescription& body : scene.description.bodies)
      for (const ShapeDescription& shape : body.shapes) best = std::min(best, calc_distance(body, shape, mj, g));
    EXPECT_LT(best, mj.model->nmesh > 0 ? 1e-6 : 1e-8) << "geom " << g << " '" << mj.name(mjOBJ_GEOM, g) << "'";
  }
}

/// Heights of the fields, in the order of the geoms.
void compare_heights(const Scene& scene, const MujocoModel& mj) {
  int g = 0;
  for (const BodyDescription& body : scene.description.bodies)
    for (const ShapeDescription& shape : body.shapes) {
      if (shape.kind != ShapeKind::Heightfield) continue;
      while (g < mj.model->ngeom && mj.model->geom_type[g] != mjGEOM_HFIELD) ++g;
      ASSERT_LT(g, mj.model->ngeom);
      const int field = mj.model->geom_dataid[g++];
      const int count = mj.model->hfield_nrow[field] * mj.model->hfield_ncol[field];
      ASSERT_GE(static_cast<int>(shape.surface->vertices.size()), count);
      for (int k = 0; k < count; ++k)
        EXPECT_NEAR(shape.surface->vertices[k].z(),
                    mj.model->hfield_size[4 * field + 2] * mj.model->hfield_data[mj.model->hfield_adr[field] + k], 1e-6)
            << "field " << field << " height " << k;
    }
}

/// Poses and velocities of a keyframe.
void compare_key(const fs::path& path, int key, const MujocoModel& mj) {
  ImportOptions options;
  options.key = std::to_string(key);
  const Result<Scene> scene = load_any(path.string(), options);
  ASSERT_TRUE(scene) << scene.faults()[0].text();
  mj_resetDataKeyframe(mj.model, mj.data, key);
  mj_forward(mj.model, mj.data);
  for (int b = 1; b < mj.model->nbody; ++b) {
    const auto index = scene->model.find_body(mj.name(mjOBJ_BODY, b));
    if (mj.model->body_weldid[b] != b || !index) continue;
    SCOPED_TRACE("key " + options.key + ", body " + mj.name(mjOBJ_BODY, b));
    const Pose& at = scene->initial.pose[*index];
    EXPECT_LT((at.position - calc_lump(mj, b).center).norm(), 1e-9);
    EXPECT_LT(distance(at.orientation, mj.pose(b).orientation), 1e-9);
    double v[6];
    mj_objectVelocity(mj.model, mj.data, mjOBJ_BODY, b, v, 0);
    const Twist& ours = scene->initial.velocity[*index];
    EXPECT_LT((at.orientation * ours.angular - Vec3(v[0], v[1], v[2])).norm(), 1e-9);
    EXPECT_LT((ours.linear - Vec3(v[3], v[4], v[5])).norm(), 1e-9);
  }
}

class MujocoShared : public testing::TestWithParam<const char*> {};

TEST_P(MujocoShared, MassesPosesInertiasAxesAndRanges) {
  const fs::path path = fs::path(SLIPSTICK_SOURCE_DIR) / "../shared/data/models/mjcf" / GetParam();
  if (!fs::exists(path)) GTEST_SKIP() << "no models beside the project: " << path;
  const MujocoModel mj(path.string());
  if (mj.model == nullptr) GTEST_SKIP() << "this libmujoco does not read it: " << mj.problem;
  const Result<Scene> scene = load_any(path.string());
  ASSERT_TRUE(scene) << scene.faults()[0].text();
  set_start(*scene, mj);
  compare_bodies(*scene, mj);
  compare_joints(*scene, mj);
  compare_primitives(*scene, mj);
  for (int key = 0; key < mj.model->nkey; ++key) compare_key(path, key, mj);
}

TEST(Mujoco, BodiesOfTheOwnModelsThatItReads) {
  int read = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(SLIPSTICK_SOURCE_DIR) / "tests/models")) {
    if (entry.path().extension() != ".xml") continue;
    const MujocoModel mj(entry.path().string());
    if (mj.model == nullptr) continue;
    SCOPED_TRACE(entry.path().filename().string());
    const Result<Scene> scene = load_any(entry.path().string());
    ASSERT_TRUE(scene) << scene.faults()[0].text();
    ++read;
    set_start(*scene, mj);
    compare_bodies(*scene, mj);
    compare_joints(*scene, mj);
    compare_primitives(*scene, mj);
    compare_heights(*scene, mj);
    for (int key = 0; key < mj.model->nkey; ++key) compare_key(entry.path(), key, mj);
  }
  EXPECT_GT(read, 11);
}

/// URDF files too, those that have no more than it reads.
TEST(Mujoco, BodiesOfTheOwnUrdfFilesThatItReads) {
  int read = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(SLIPSTICK_SOURCE_DIR) / "tests/models")) {
    if (entry.path().extension() != ".urdf") continue;
    const MujocoModel mj(entry.path().string());
    if (mj.model == nullptr) continue;
    SCOPED_TRACE(entry.path().filename().string());
    const Result<Scene> scene = load_any(entry.path().string());
    ASSERT_TRUE(scene) << scene.faults()[0].text();
    ++read;
    set_start(*scene, mj);
    compare_bodies(*scene, mj);
    compare_joints(*scene, mj);
  }
  EXPECT_GT(read, 2);
}

INSTANTIATE_TEST_SUITE_P(All, MujocoShared,
                         testing::Values("dm_control/acrobot.xml", "dm_control/ball_in_cup.xml",
                                         "dm_control/cartpole.xml", "dm_control/cheetah.xml", "dm_control/finger.xml",
                                         "dm_control/hopper.xml", "dm_control/humanoid.xml", "dm_control/pendulum.xml",
                                         "dm_control/walker.xml", "menagerie/agility_cassie/cassie.xml",
                                         "menagerie/kuka_iiwa_14/iiwa14.xml", "menagerie/pal_tiago/tiago.xml",
                                         "menagerie/robotiq_2f85/2f85.xml", "menagerie/skydio_x2/x2.xml",
                                         "menagerie/trossen_wx250s/wx250s.xml",
                                         "menagerie/wonik_allegro/right_hand.xml"));

/// All ways to write a place, defaults in classes, all primitive geoms, inertials, fixed children.
const std::string kPlaces = R"xml(<mujoco model="places">
  <compiler angle="degree" eulerseq="zYx"/>
  <default>
    <geom density="700"/>
    <joint armature="0.03" damping="0.2"/>
    <default class="inner"><joint stiffness="3" springref="20" axis="1 1 0"/><geom type="box" size="0.1 0.2"/>
      <default class="innermost"><joint damping="0.5"/></default></default>
  </default>
  <worldbody>
    <body name="a" pos="0.1 0.2 1.5" euler="20 30 40">
      <joint name="ja" type="hinge" axis="0 2 1" pos="0.01 0.02 0.03" range="-70 80" limited="true" ref="10"/>
      <geom type="capsule" fromto="0 0 0 0.1 0.2 0.3" size="0.05"/>
      <geom type="sphere" size="0.1" pos="0.1 0 0" mass="0.4"/>
      <body name="b" pos="0 0 0.4" axisangle="1 2 3 50" childclass="inner">
        <joint name="jb" range="0 60" limited="true"/>
        <geom size="0.1 0.2 0.3" zaxis="1 1 1"/>
        <geom class="main" type="ellipsoid" size="0.1 0.15 0.2" xyaxes="0 1 0 -1 0 0.2" pos="0.3 0 0"/>
        <body name="c" quat="1 0.2 0.3 -0.1" pos="0.3 0.1 0">
          <joint name="jc" class="innermost" type="slide" frictionloss="0.2"/>
          <inertial pos="0.1 0 0" mass="2" fullinertia="0.02 0.03 0.04 0.001 -0.002 0.003"/>
          <body name="d" pos="0 0.3 0" xyaxes="0 1 0 0 0 1">
            <inertial pos="0 0 0.1" quat="1 1 0 0" mass="1.5" diaginertia="0.01 0.02 0.015"/>
            <geom type="cylinder" size="0.05 0.2"/>
          </body>
        </body>
      </body>
    </body>
    <body name="e" pos="1 0 1"><freejoint/><geom type="cylinder" fromto="0 0 0 0.2 0 0.1" size="0.03"/></body>
  </worldbody>
</mujoco>)xml";

struct ModelFile {
  explicit ModelFile(const std::string& text)
      : path(fs::path(testing::TempDir()) / ("slipstick_mujoco_" + std::to_string(getpid()) + ".xml")) {
    std::ofstream(path) << text;
  }
  ~ModelFile() { fs::remove(path); }
  ModelFile(const ModelFile&) = delete;
  ModelFile& operator=(const ModelFile&) = delete;
  fs::path path;
};

TEST(Mujoco, PlacesDefaultsAndMatterOfEveryKind) {
  const ModelFile file(kPlaces);
  const MujocoModel mj(file.path.string());
  ASSERT_NE(mj.model, nullptr) << mj.problem;
  const Result<Scene> scene = load_any(file.path.string());
  ASSERT_TRUE(scene) << scene.faults()[0].text();
  set_start(*scene, mj);
  compare_bodies(*scene, mj);
  EXPECT_EQ(compare_joints(*scene, mj), 3);
}

/// A closed wedge, an L that is not convex, a surface that is open: by pyramids and by the volume integral.
TEST(Mujoco, MatterOfMeshes) {
  for (const char* exact : {"false", "true"}) {
    const ModelFile file(std::string("<mujoco><compiler exactmeshinertia=\"") + exact + R"xml("/>
  <asset>
    <mesh name="wedge" scale="1 2 1.5" vertex="0 0 0 0.3 0 0 0 0.2 0 0 0 0.1 0.3 0 0.1 0 0.2 0.1"
          face="0 2 1 3 4 5 0 1 4 0 4 3 1 2 5 1 5 4 2 0 3 2 3 5"/>
    <mesh name="corner" vertex="0 0 0 3 0 0 3 1 0 1 1 0 1 3 0 0 3 0 0 0 1 3 0 1 3 1 1 1 1 1 1 3 1 0 3 1" scale="0.1 0.1 0.1"
          face="0 2 1 0 3 2 0 4 3 0 5 4 6 7 8 6 8 9 6 9 10 6 10 11 0 1 7 0 7 6 1 2 8 1 8 7 2 3 9 2 9 8 3 4 10 3 10 9 4 5 11 4 11 10 5 0 6 5 6 11"/>
  </asset>
  <worldbody>
    <body name="a" pos="0 0 1"><freejoint/><geom type="mesh" mesh="wedge" density="700"/></body>
    <body name="b" pos="1 0 1" quat="1 0.2 0 0.4"><freejoint/><geom type="mesh" mesh="corner" pos="0.1 0.2 0.3" euler="10 20 30"/></body>
    <body name="c" pos="2 0 1"><freejoint/><geom type="mesh" mesh="corner" mass="3"/></body>
  </worldbody>
</mujoco>)xml");
    const MujocoModel mj(file.path.string());
    ASSERT_NE(mj.model, nullptr) << mj.problem;
    const Result<Scene> scene = load_any(file.path.string());
    ASSERT_TRUE(scene) << scene.faults()[0].text();
    set_start(*scene, mj);
    compare_bodies(*scene, mj);
  }
}

/// An arm of hinges and slides, a universal and a three-axis joint; springs, dampers, rotors; each kind of actuator.
const std::string kArm = R"xml(<mujoco model="arm">
  <compiler angle="radian"/>
  <option gravity="0 0 -9.81" integrator="RK4" timestep="0.0002"><flag contact="disable"/></option>
  <default><geom contype="0" conaffinity="0" density="800"/></default>
  <worldbody>
    <body name="upper" pos="0 0 2">
      <joint name="shoulder" axis="0 1 0" armature="0.2" damping="0.3"/>
      <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.04"/>
      <body name="lower" pos="0.4 0 0">
        <joint name="elbow" axis="0 1 0.2" armature="0.05" damping="0.1" stiffness="4" springref="0.5"/>
        <geom type="box" size="0.2 0.03 0.04" pos="0.2 0 0"/>
        <body name="hand" pos="0.4 0 0">
          <joint name="reach" type="slide" axis="1 0 0" armature="0.5" damping="2" stiffness="300"/>
          <geom type="box" size="0.05 0.04 0.03" pos="0.05 0 0"/>
          <body name="finger" pos="0.1 0 0">
            <joint name="bend" axis="0 1 0" armature="0.01" damping="0.02" stiffness="1"/>
            <joint name="swing" axis="0 0 1" armature="0.02" damping="0.02"/>
            <geom type="ellipsoid" size="0.06 0.02 0.03" pos="0.06 0 0"/>
          </body>
        </body>
      </body>
    </body>
    <body name="ball" pos="1 1 1"><freejoint/><geom type="box" size="0.1 0.2 0.05"/></body>
  </worldbody>
  <actuator>
    <position name="p" joint="elbow" kp="20"/>
    <motor name="m" joint="shoulder" gear="2"/>
    <velocity name="v" joint="swing" kv="0.05" gear="3"/>
    <general name="g" joint="bend" gainprm="1.5" biastype="affine" biasprm="0.1 -2 -0.01"/>
  </actuator>
  <keyframe>
    <key name="still" qpos="0 0 0 0 0 1 1 1 1 0 0 0" qvel="0 0 0 0 0 0 0 1 1 2 3"/>
    <key name="driven" qpos="0.3 -0.4 0.02 0.2 0 1 1 1 1 0 0 0" ctrl="0.7 6 0.8 0.5"/>
  </keyframe>
</mujoco>)xml";

/// Positions and orientations of all bodies after a second of ours, against a second of MuJoCo's.
double calc_motion_error(const Result<Scene>& scene, const MujocoModel& mj, const std::string& scheme, double step) {
  SimulationOptions options = scene->options;
  options.scheme = scheme;
  options.step = step;
  Simulation simulation(scene->model, scene->initial, options);
  for (int k = 0; k < std::lround(1 / step); ++k) EXPECT_TRUE(simulation.step().certified);
  double error = 0;
  for (int b = 1; b < mj.model->nbody; ++b) {
    const int index = *scene->model.find_body(mj.name(mjOBJ_BODY, b));
    const Pose& at = simulation.state().pose[index];
    const Vec3 center = Eigen::Map<const Vec3>(mj.data->xipos + 3 * b);
    error = std::max({error, (at.position - center).norm(), distance(at.orientation, mj.pose(b).orientation)});
  }
  return error;
}

TEST(Mujoco, MotionWithRotorsDampersSpringsAndConstantControls) {
  const ModelFile file(kArm);
  MujocoModel mj(file.path.string());
  ASSERT_NE(mj.model, nullptr) << mj.problem;
  for (int key = 0; key < 2; ++key) {
    ImportOptions options;
    options.key = key == 0 ? "still" : "driven";
    const Result<Scene> scene = load_any(file.path.string(), options);
    ASSERT_TRUE(scene) << scene.faults()[0].text();
    mj_resetDataKeyframe(mj.model, mj.data, key);
    for (int k = 0; k < mj.model->nu; ++k) mj.data->ctrl[k] = mj.model->key_ctrl[key * mj.model->nu + k];
    while (mj.data->time < 1 - 1e-9) mj_step(mj.model, mj.data);
    mj_kinematics(mj.model, mj.data);
    mj_comPos(mj.model, mj.data);
    for (const char* scheme : {"spook", "trapezoid"}) {
      // Rotors on the second axis of a universal joint that turns: schemes with alpha = 1 are off by 0.03 rad at any
      // step.
      if (key == 1 && scheme == std::string("spook")) continue;
      const double coarse = calc_motion_error(scene, mj, scheme, 1.0 / 500),
                   fine = calc_motion_error(scene, mj, scheme, 1.0 / 1000);
      const double order = std::log2(coarse / fine);
      RecordProperty(options.key + " " + scheme, std::to_string(fine) + ", order " + std::to_string(order));
      // Springs and rotors are of first order in both; a part of the rotors' fault is in `still` under spook too.
      EXPECT_GT(order, scheme == std::string("spook") ? 0.7 : 0.8) << options.key << " " << scheme;
      EXPECT_LT(fine, 2e-2) << options.key << " " << scheme;
    }
  }
}

}  // namespace
}  // namespace slipstick::test
#endif
