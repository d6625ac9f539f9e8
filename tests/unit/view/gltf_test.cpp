// glTF files as another program reads them: assimp knows nothing of this project.
#include "support/simulate.h"
#include "unit/record/record_files.h"
#include "view/clip.h"
#include "view/solid_mesh.h"

#include <slipstick/app/recording.h>
#include <slipstick/app/view.h>

#include <assimp/scene.h>
#include <assimp/Importer.hpp>

namespace slipstick {
namespace {

using test_files::TemporaryFolder;

const char kMoving[] =
    "name: machine\n"
    "bodies:\n"
    "  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: 0}}]}\n"
    "  - {name: fan, mass: 1, position: [0, 0, 1], angular_velocity: [0, 0, 7],\n"
    "     shapes: [{box: {size: [1, 0.1, 0.1]}}, {sphere: {radius: 0.1}, position: [0.5, 0, 0], color: \"#ff0000\"}]}\n"
    "  - {name: ball, mass: 1, position: [2, 0, 1], velocity: [1, 0, 3], shapes: [{sphere: {radius: 0.1}, color: "
    "\"#ff0000\"}]}\n"
    "joints:\n"
    "  - hinge: {name: spindle, between: [world, fan], at: [0, 0, 1], axis: [0, 0, 1]}\n"
    "simulation: {duration: 1, step: 1/200}\n";

std::string record(const TemporaryFolder& folder, int steps) {
  const Scene scene = test::scene_of(kMoving);
  auto recorder = Recorder::create(folder.file("run.h5"), scene, "test");
  Simulation simulation = test::simulation_of(scene);
  recorder->append(simulation, nullptr);
  for (int k = 0; k < steps; ++k) {
    const StepReport& report = simulation.step();
    recorder->append(simulation, &report);
  }
  EXPECT_TRUE(recorder->close());
  return folder.file("run.h5");
}

const aiNodeAnim* find_channel(const aiAnimation& animation, const std::string& name) {
  for (unsigned k = 0; k < animation.mNumChannels; ++k)
    if (animation.mChannels[k]->mNodeName.C_Str() == name) return animation.mChannels[k];
  return nullptr;
}

/// The pose at a time as a player makes it: between two keys.
Pose play(const aiAnimation& animation, const aiNodeAnim& channel, double time) {
  const double tick = time * (animation.mTicksPerSecond > 0 ? animation.mTicksPerSecond : 1);
  Pose pose;
  for (unsigned k = 0; k + 1 < channel.mNumPositionKeys; ++k) {
    const aiVectorKey &a = channel.mPositionKeys[k], &b = channel.mPositionKeys[k + 1];
    if (tick < a.mTime || tick > b.mTime) continue;
    const double f = (tick - a.mTime) / (b.mTime - a.mTime);
    pose.position = (1 - f) * Vec3(a.mValue.x, a.mValue.y, a.mValue.z) + f * Vec3(b.mValue.x, b.mValue.y, b.mValue.z);
  }
  for (unsigned k = 0; k + 1 < channel.mNumRotationKeys; ++k) {
    const aiQuatKey &a = channel.mRotationKeys[k], &b = channel.mRotationKeys[k + 1];
    if (tick < a.mTime || tick > b.mTime) continue;
    const Quat p(a.mValue.w, a.mValue.x, a.mValue.y, a.mValue.z), q(b.mValue.w, b.mValue.x, b.mValue.y, b.mValue.z);
    EXPECT_GT(p.dot(q), 0) << "players go the short way only if the signs agree";
    pose.orientation = p.slerp((tick - a.mTime) / (b.mTime - a.mTime), q);
  }
  return pose;
}

TEST(Gltf, AnotherReaderSeesTheSameMotion) {
  const TemporaryFolder folder;
  const std::string path = record(folder, 200);
  const auto file = make_gltf(path);
  ASSERT_TRUE(file) << file.faults().front().text();
  EXPECT_EQ(file->substr(0, 4), "glTF");
  EXPECT_EQ(file->size() % 4, 0u);
  Assimp::Importer importer;
  const aiScene* scene = importer.ReadFileFromMemory(file->data(), file->size(), 0, "glb");
  ASSERT_TRUE(scene) << importer.GetErrorString();
  EXPECT_EQ(scene->mNumMeshes, 3u) << "the two red spheres share one";
  const aiNode* root = scene->mRootNode;
  EXPECT_STREQ(root->mName.C_Str(), "machine");
  ASSERT_EQ(root->mNumChildren, 3u);
  EXPECT_EQ(root->mChildren[1]->mNumChildren, 2u) << "two shapes of the fan";
  aiVector3D up(0, 0, 1);
  up = root->mTransformation * up;
  EXPECT_NEAR(up.y, 1, 1e-6) << "glTF's up is y";
  ASSERT_EQ(scene->mNumAnimations, 1u);
  const aiAnimation& animation = *scene->mAnimations[0];
  EXPECT_EQ(animation.mNumChannels, 2u) << "the floor does not move";
  const auto reader = RecordReader::open(path);
  const double scale = animation.mTicksPerSecond > 0 ? animation.mTicksPerSecond : 1;
  EXPECT_NEAR(animation.mDuration / scale, 1, 1e-5) << "it ends where the run ends";
  for (const std::size_t body : {1u, 2u}) {
    const aiNodeAnim* channel = find_channel(animation, reader->header().bodies[body]);
    ASSERT_TRUE(channel);
    EXPECT_LT(channel->mNumPositionKeys, 80u) << "60 a second";
    for (const std::size_t frame : {0u, 37u, 111u, 198u, 200u}) {
      const auto pose = reader->read_poses(frame, 1, 1);
      const double* p = pose->data() + body * 7;
      const Pose played = play(animation, *channel, reader->series().time[frame]);
      // Straight lines between keys 0.02 s apart: g dt^2/8 = 4.905e-4 m at most.
      EXPECT_LT((played.position - Vec3(p[0], p[1], p[2])).norm(), 4.91e-4) << "body " << body << " frame " << frame;
      EXPECT_LT(played.orientation.angularDistance(Quat(p[3], p[4], p[5], p[6])), 1e-3);
    }
  }
}

TEST(Gltf, ARunThatStandsStillHasNoAnimation) {
  const TemporaryFolder folder;
  const auto file = make_gltf(record(folder, 0));
  ASSERT_TRUE(file);
  Assimp::Importer importer;
  const aiScene* scene = importer.ReadFileFromMemory(file->data(), file->size(), 0, "glb");
  ASSERT_TRUE(scene) << importer.GetErrorString();
  EXPECT_EQ(scene->mNumAnimations, 0u);
  EXPECT_FALSE(make_gltf(folder.file("none.h5")));
}

/// Volume within a closed surface whose triangles are counter-clockwise from outside.
double calc_volume(const SolidMesh& mesh) {
  double volume = 0;
  const auto corner = [&](std::size_t i) {
    const auto& p = mesh.position[mesh.index[i]];
    return Vec3(p[0], p[1], p[2]);
  };
  for (std::size_t i = 0; i + 2 < mesh.index.size(); i += 3)
    volume += corner(i).dot(corner(i + 1).cross(corner(i + 2))) / 6;
  return volume;
}

TEST(SolidMesh, ShapesHaveTheirVolumeAndFaceOutwards) {
  RecordShape shape;
  shape.size = {1, 2, 3};
  shape.radius = 0.5;
  shape.length = 2;
  const double pi = std::numbers::pi, ball = 4 * pi / 3 * 0.125, disc = pi * 0.25;
  const auto volume = [&](const char* kind) { return calc_volume(make_solid_mesh(shape, kind, 10, 0.1)); };
  EXPECT_NEAR(volume("box"), 6, 1e-5);
  EXPECT_NEAR(volume("sphere"), ball, 0.03 * ball);
  EXPECT_NEAR(volume("capsule"), ball + 2 * disc, 0.02 * (ball + 2 * disc));
  EXPECT_NEAR(volume("cylinder"), 2 * disc, 0.02 * disc);
  EXPECT_NEAR(volume("cone"), 2 * disc / 3, 0.01 * disc);
  EXPECT_NEAR(volume("ellipsoid"), pi, 0.03 * pi);
  EXPECT_NEAR(volume("disk"), 0.1 * disc, 0.01 * disc);
  shape.points = {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};  // an L
  EXPECT_NEAR(volume("polygon"), 0.3, 1e-6);
  std::reverse(shape.points.begin(), shape.points.end());
  EXPECT_NEAR(volume("polygon"), 0.3, 1e-6) << "whichever way it goes around";
  EXPECT_TRUE(make_solid_mesh(shape, "cloud", 10, 0.1).index.empty());
}

}  // namespace
}  // namespace slipstick
