#include <slipstick/app/info.h>
#include <slipstick/model.h>
#include <slipstick/simulation.h>
#include <slipstick/solver.h>
#include <slipstick/version.h>

#include "report/json_text.h"

#include <sstream>
#include <thread>

// The build system says these; the defaults keep the file usable without it.
#ifndef SLIPSTICK_BUILD_TYPE
#define SLIPSTICK_BUILD_TYPE "unknown"
#endif
#ifndef SLIPSTICK_DEPENDENCIES
#define SLIPSTICK_DEPENDENCIES ""
#endif

namespace slipstick {

namespace {

std::string find_simd() {
#if defined(__AVX512F__)
  return "AVX-512";
#elif defined(__AVX2__) && defined(__FMA__)
  return "AVX2 with FMA";
#elif defined(__AVX__)
  return "AVX";
#elif defined(__SSE2__)
  return "SSE2";
#elif defined(__ARM_NEON)
  return "NEON";
#else
  return "none";
#endif
}

std::string find_compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "g++ " __VERSION__;
#else
  return "unknown";
#endif
}

/// "Eigen 3.4.0|HDF5 1.10.8"
std::vector<std::pair<std::string, std::string>> find_dependencies() {
  std::vector<std::pair<std::string, std::string>> found;
  std::istringstream list(SLIPSTICK_DEPENDENCIES);
  for (std::string item; std::getline(list, item, '|');) {
    const std::size_t space = item.find(' ');
    if (space != std::string::npos) found.emplace_back(item.substr(0, space), item.substr(space + 1));
  }
  return found;
}

void add_list(const std::vector<std::string>& names, const char* key, JsonText* json) {
  json->key(key);
  json->begin_array(true);
  for (const std::string& name : names) json->value(name);
  json->end_array();
}

}  // namespace

BuildInfo make_build_info() {
  BuildInfo info;
  info.version = version();
  info.build_type = SLIPSTICK_BUILD_TYPE;
  info.compiler = find_compiler();
  info.simd = find_simd();
  info.threads = static_cast<int>(std::thread::hardware_concurrency());
  info.dependencies = find_dependencies();
  for (const std::string_view name : scheme_names()) info.schemes.emplace_back(name);
  info.solvers.emplace_back("auto");  // the ladder of solvers, not a solver itself
  for (const std::string_view name : solver_names())
    if (name != "auto") info.solvers.emplace_back(name);
  using enum ShapeKind;
  for (const ShapeKind kind :
       {Sphere, Box, Capsule, Plane, Disk, Polygon, Cylinder, Cone, Ellipsoid, Hull, Mesh, Heightfield})
    info.shapes.emplace_back(name_of(kind));
  for (int kind = 0; kind < kJointKinds; ++kind) info.joints.emplace_back(name_of(static_cast<JointKind>(kind)));
  return info;
}

std::string make_json(const BuildInfo& info) {
  JsonText json;
  json.begin_object();
  json.field("version", info.version);
  json.field("build_type", info.build_type);
  json.field("compiler", info.compiler);
  json.field("simd", info.simd);
  json.field("threads", info.threads);
  json.key("dependencies");
  json.begin_object();
  for (const auto& [name, number] : info.dependencies) json.field(name, number);
  json.end_object();
  add_list(info.schemes, "schemes", &json);
  add_list(info.solvers, "solvers", &json);
  add_list(info.shapes, "shapes", &json);
  add_list(info.joints, "joints", &json);
  json.end_object();
  return json.text();
}

}  // namespace slipstick
