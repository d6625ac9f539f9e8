// Files of triangles and heights: what is read, what is refused, and that nothing crashes.
#include "scene/surface_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "unit/scene/scene_texts.h"

namespace slipstick {
namespace {

const char* const kCubeObj = R"(# a cube
o cube
v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
v 0 0 1
v 1 0 1
v 1 1 1
v 0 1 1
vn 0 0 1
s off
f 4/1/1 3/2/1 2//1 1
f 5 6 7 8
f 1 2 6 5
f 2 3 7 6
f 3 4 8 7
f -5 -8 -4 -1
)";

const char* const kTriangleStl = R"(solid sheet
facet normal 0 0 1
  outer loop
    vertex 0 0 0
    vertex 1 0 0
    vertex 0 1e0 0
  endloop
endfacet
endsolid sheet
)";

std::string make_binary_stl(std::uint32_t says, const std::vector<float>& corners) {
  std::string bytes(80, ' ');
  const auto put = [&](std::uint32_t x) {
    for (int k = 0; k < 4; ++k) bytes.push_back(static_cast<char>(x >> (8 * k) & 255));
  };
  put(says);
  for (std::size_t i = 0; i < corners.size(); ++i) {
    if (i % 9 == 0) bytes.append(12, '\0');
    put(std::bit_cast<std::uint32_t>(corners[i]));
    if (i % 9 == 8) bytes.append(2, '\0');
  }
  return bytes;
}

TEST(SurfaceFile, Obj) {
  const SurfaceFile cube = parse_obj(kCubeObj);
  ASSERT_EQ(cube.problem, "");
  EXPECT_EQ(cube.vertices.size(), 8u);
  EXPECT_EQ(cube.triangles.size(), 12u);
  const MadeSurface made = make_surface(cube.vertices, cube.triangles);
  ASSERT_EQ(made.problem, "");
  EXPECT_TRUE(made.surface->closed);
  EXPECT_NEAR(made.surface->volume, 1, 1e-15);
}

TEST(SurfaceFile, Stl) {
  const SurfaceFile text = parse_stl(kTriangleStl);
  ASSERT_EQ(text.problem, "");
  ASSERT_EQ(text.triangles.size(), 1u);
  const SurfaceFile binary = parse_stl(make_binary_stl(1, {0, 0, 0, 1, 0, 0, 0, 1, 0}));
  ASSERT_EQ(binary.problem, "");
  ASSERT_EQ(binary.triangles.size(), 1u);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(text.vertices[k], binary.vertices[k]);
  std::string solid = make_binary_stl(1, {0, 0, 0, 1, 0, 0, 0, 1, 0});
  std::memcpy(solid.data(), "solid", 5);
  EXPECT_EQ(parse_stl(solid).triangles.size(), 1u) << "binary, whatever its header says";
}

TEST(SurfaceFile, FaultsHaveTheirLine) {
  const auto starts = [](const SurfaceFile& file, const std::string& what) {
    EXPECT_TRUE(file.problem.starts_with(what)) << file.problem;
    EXPECT_EQ(file.problem.find('\n'), std::string::npos);
  };
  starts(parse_obj("v 0 0 0\nv 1 0 nan\n"), "line 2: 'nan' is not a finite number");
  starts(parse_obj("v 0 0\n"), "line 1: a point needs 3 coordinates, not 2");
  starts(parse_obj("v 0 0 0\nf 1 1 2\n"), "line 2: vertex 2 is not there");
  starts(parse_obj("v 0 0 0\nf 0 1 1\n"), "line 2: vertex 0 is not there");
  starts(parse_obj("v 0 0 0\nf 1 1\n"), "line 2: a face needs 3 vertices, not 2");
  starts(parse_obj("v 0 0 0\nf 1 x 1\n"), "line 2: 'x' is not the number of a vertex");
  starts(parse_obj("hello\n"), "no face in it");
  starts(parse_stl("solid\nfacet\nvertex 0 0 1e999\n"), "line 3: '1e999' is not a finite number");
  starts(parse_stl("solid\nfacet\nvertex 0 0 0\nendfacet\n"), "line 4: a facet has 3 vertices, not 1");
  starts(parse_stl("solid x\nwhat\n"), "line 2: 'what' is no word of an STL file");
  starts(parse_stl("nothing"), "neither a text STL file");
  starts(parse_stl(make_binary_stl(3, {0, 0, 0, 1, 0, 0, 0, 1, 0})), "a binary STL file of 3 triangles has 234 bytes");
  starts(parse_stl(make_binary_stl(10'000'000, {0, 0, 0, 1, 0, 0, 0, 1, 0})), "more than the limit of 4000000");
  starts(parse_surface("a.ply", "ply"), "unknown kind of file");
}

TEST(SurfaceFile, Heights) {
  const HeightFile csv = parse_csv("# a hill\n0, 1, 2\n3;4;5\n\n 6 7\t8\r\n");
  ASSERT_EQ(csv.problem, "");
  EXPECT_EQ(csv.columns, 3u);
  EXPECT_EQ(csv.heights, (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_TRUE(parse_csv("1 2\n3\n").problem.starts_with("line 2: has 1 numbers")) << "ragged";
  EXPECT_TRUE(parse_csv("1 two\n").problem.starts_with("line 1: 'two'"));
  const HeightFile plain = parse_pgm("P2 # grey\n2 2\n255\n0 255\n51 102\n");
  ASSERT_EQ(plain.problem, "");
  EXPECT_EQ(plain.heights, (std::vector<double>{0.2, 0.4, 0, 1})) << "the last row of the picture has the least y";
  const HeightFile raw = parse_pgm(std::string("P5 2 2 255\n") + std::string("\x00\xff\x33\x66", 4));
  EXPECT_EQ(raw.heights, plain.heights);
  const HeightFile wide = parse_pgm(std::string("P5 2 1 65535\n") + std::string("\xff\xff\x00\x00", 4));
  EXPECT_EQ(wide.heights, (std::vector<double>{1, 0}));
  EXPECT_NE(parse_pgm("P5 2 2 255\nab").problem, "");
  EXPECT_NE(parse_pgm("P2 2 2 255\n1 2 3").problem, "");
  EXPECT_NE(parse_pgm("P2 99999999 99999999 255\n").problem.find("limit"), std::string::npos);
  EXPECT_NE(parse_pgm("P2 2 2 1\n0 1 2 0").problem.find("brighter"), std::string::npos);
}

/// A folder of its own, gone at the end.
class SurfaceScenes : public testing::Test {
 protected:
  void SetUp() override {
    // Of this process: the next one may have the same address for the same thing.
    folder_ = std::filesystem::temp_directory_path() / ("slipstick_surface_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_ / "in");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  /// A scene in folder/in whose one body has the shape.
  Result<Scene> load(const std::string& body) {
    write("in/scene.yaml", "slipstick: 1\nbodies:\n  - " + body + "\n");
    return load_scene((folder_ / "in/scene.yaml").string());
  }
  std::string fault_of(const std::string& body) {
    const Result<Scene> scene = load(body);
    if (scene) return "ok";
    std::string text = scene.faults()[0].text();
    const std::size_t at = text.find("scene.yaml");
    return at == std::string::npos ? text : text.substr(at);
  }
  std::filesystem::path folder_;
};

TEST_F(SurfaceScenes, AMeshAsASolid) {
  write("in/cube.obj", kCubeObj);
  const Result<Scene> scene =
      load("{name: a, density: 3, repeat: {i: 1}, shapes: [{mesh: {file: cube.obj, scale: [1, 2, -3]}}]}");
  ASSERT_TRUE(scene) << scene.faults()[0].text();
  EXPECT_NEAR(scene->model.bodies[0].mass, 18, 1e-12);
  EXPECT_LT((scene->model.bodies[0].center_of_mass - Vec3(0.5, 1, -1.5)).norm(), 1e-12);
}

TEST_F(SurfaceScenes, Fields) {
  write("in/hill.csv", "0 0 0\n0 1 0\n0 0 0\n");
  const Result<Scene> scene =
      load("{name: a, fixed: true, shapes: [{heightfield: {file: hill.csv, size: [4, 4, 0.5]}}]}");
  ASSERT_TRUE(scene) << scene.faults()[0].text();
  EXPECT_EQ(scene->model.surfaces.at(0)->vertices.at(4), Vec3(0, 0, 0.5));
  EXPECT_EQ(fault_of("{name: a, fixed: true, shapes: [{heightfield: {data: [[0, 1], [2, 1 + 1]], size: [1, 1]}}]}"),
            "ok");
}

TEST_F(SurfaceScenes, EachFaultIsOneLineWithItsPlace) {
  write("outside.obj", kCubeObj);
  write("in/nan.obj", "v 0 0 0\nv nan 0 0\n");
  write("in/flat.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n");
  write("in/sheet.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  const auto mesh = [&](const std::string& file) {
    return fault_of("{name: a, mass: 1, shapes: [{mesh: {file: " + file + "}}]}");
  };
  const std::string place = "scene.yaml:3:";
  const std::vector<std::pair<const char*, const char*>> broken{{"nan.obj", "line 2: 'nan' is not a finite number"},
                                                                {"flat.obj", "has no triangle with an area"},
                                                                {"missing.obj", "cannot open the file"},
                                                                {"../outside.obj", "lies outside the scene's folder"},
                                                                {"../in", "is not a regular file"},
                                                                {"scene.yaml", "unknown kind of file"}};
  for (const auto& [file, what] : broken) {
    const std::string fault = mesh(file);
    EXPECT_TRUE(fault.starts_with(place)) << fault;
    EXPECT_NE(fault.find(what), std::string::npos) << fault;
  }
  EXPECT_NE(fault_of("{name: a, density: 1, shapes: [{mesh: {file: sheet.obj}}]}").find("mesh is open"),
            std::string::npos);
  EXPECT_NE(fault_of("{name: a, fixed: true, shapes: [{mesh: {file: sheet.obj, scale: 0}}]}").find("scale must be"),
            std::string::npos);
  EXPECT_NE(fault_of("{name: a, mass: 1, shapes: [{heightfield: {data: [[0, 0], [0, 0]], size: [1, 1]}}]}")
                .find("cannot belong to a dynamic body"),
            std::string::npos);
  EXPECT_NE(fault_of("{name: a, fixed: true, shapes: [{heightfield: {data: [[0, 0], [0]], size: [1, 1]}}]}")
                .find("the rows before it 2"),
            std::string::npos);
  EXPECT_NE(fault_of("{name: a, fixed: true, shapes: [{heightfield: {size: [1, 1]}}]}").find("either 'file' or 'data'"),
            std::string::npos);
}

TEST_F(SurfaceScenes, MapsOfRollingFriction) {
  const auto with = [](const std::string& map) {
    return "{name: a, fixed: true, shapes: [{heightfield: {data: [[0, 1], [2, 1]], size: [1, 1], rolling_friction: " +
           map + "}}]}";
  };
  // Other rows and columns than the heights are as good.
  EXPECT_EQ(fault_of(with("{data: [[0, 1, 2], [0, 1, 2], [0, 0, 0]], scale: 0.01}")), "ok");
  for (const auto& [map, what] : std::vector<std::array<std::string, 2>>{
           {"0.1", "expected a map such as {file: soil.pgm, scale: 0.05} for 'rolling_friction'"},
           {"{scale: 2}", "needs either 'file' or 'data'"},
           {"{data: [[0, 1], [1]]}", "this row of 'data' has 1 numbers, the rows before it 2"},
           {"{data: [[0, 1]]}", "needs at least 2 rows and 2 columns"},
           {"{data: [[0, 1], [0, -1]]}", "rolling_friction in row 2, column 2 is not a length of zero or more"},
           {"{file: hill.scv}", "hill.scv"},
           {"{data: [[0, 1], [0, 1]], scal: 2}", "unknown key 'scal'"}}) {
    const std::string fault = fault_of(with(map));
    EXPECT_NE(fault.find(what), std::string::npos) << fault;
    EXPECT_NE(fault.find("scene.yaml:3:"), std::string::npos) << fault;
  }
}

/// A short, repeatable run of what tests/fuzz does for long: broken files give a fault or a surface, nothing else.
TEST(SurfaceFile, MutatedFilesNeverCrash) {
  std::mt19937 random(61);
  const std::vector<std::string> seeds{kCubeObj,
                                       kTriangleStl,
                                       make_binary_stl(2, {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0}),
                                       "0, 1, 2\n3, 4, 5\n",
                                       "P2 2 2 255\n0 255\n51 102\n",
                                       "P5 2 2 255\nabcd"};
  int good = 0;
  for (int k = 0; k < 6000; ++k) {
    std::string bytes = seeds[k % seeds.size()];
    for (unsigned m = random() % 5; m > 0; --m) {
      const std::size_t at = random() % (bytes.size() + 1);
      switch (random() % 4) {
        case 0:
          if (at < bytes.size()) bytes[at] = static_cast<char>(random() % 256);
          break;
        case 1:
          bytes.insert(at, 1, "0123456789-.eE \n/#vfnainf"[random() % 24]);
          break;
        case 2:
          bytes.erase(at, random() % 8);
          break;
        default:
          bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 40));
          break;
      }
      if (bytes.empty()) bytes = "v";
    }
    for (const SurfaceFile& file : {parse_obj(bytes), parse_stl(bytes)}) {
      if (!file.problem.empty()) continue;
      const MadeSurface made = make_surface(file.vertices, file.triangles);
      ASSERT_NE(made.surface == nullptr, made.problem.empty());
      good += made.surface != nullptr;
    }
    for (const HeightFile& file : {parse_csv(bytes), parse_pgm(bytes)}) {
      if (file.problem.empty()) make_heightfield(file.heights, file.columns, 1, 1);
    }
  }
  EXPECT_GT(good, 100) << "most mutations are small";
}

}  // namespace
}  // namespace slipstick
