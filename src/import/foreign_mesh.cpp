// Meshes of formats that others keep readers for (COLLADA, PLY, glTF, ...): by assimp, from bytes in memory, so that a
// file cannot make it open another.
#include "import/import_assets.h"
#include "scene/surface_file.h"

#ifdef SLIPSTICK_ASSIMP
#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include <assimp/Importer.hpp>
#endif

namespace slipstick {

#ifdef SLIPSTICK_ASSIMP
namespace {

constexpr int kMaxNodeDepth = 256;

Vec3 as_vector(const aiVector3D& v) { return {v.x, v.y, v.z}; }

void add_node(const aiScene& scene, const aiNode& node, const aiMatrix4x4& outer, int depth, SurfaceFile* out) {
  if (depth > kMaxNodeDepth) return;
  const aiMatrix4x4 to_root = outer * node.mTransformation;
  const bool mirrored = to_root.Determinant() < 0;
  for (unsigned m = 0; m < node.mNumMeshes; ++m) {
    const aiMesh& mesh = *scene.mMeshes[node.mMeshes[m]];
    const auto first = static_cast<std::int32_t>(out->vertices.size());
    for (unsigned k = 0; k < mesh.mNumVertices; ++k) out->vertices.push_back(as_vector(to_root * mesh.mVertices[k]));
    for (unsigned k = 0; k < mesh.mNumFaces; ++k) {
      const aiFace& face = mesh.mFaces[k];
      if (face.mNumIndices != 3) continue;  // points and lines
      Triangle t{};
      for (int c = 0; c < 3; ++c) t[c] = first + static_cast<std::int32_t>(face.mIndices[c]);
      if (mirrored) std::swap(t[1], t[2]);
      out->triangles.push_back(t);
    }
    if (out->triangles.size() > kMaxTriangles) return;
  }
  for (unsigned k = 0; k < node.mNumChildren; ++k) add_node(scene, *node.mChildren[k], to_root, depth + 1, out);
}

}  // namespace

SurfaceFile parse_foreign_mesh(const std::string& name, const std::string& bytes) {
  SurfaceFile out;
  Assimp::Importer importer;
  importer.SetPropertyInteger(AI_CONFIG_PP_SBP_REMOVE, aiPrimitiveType_POINT | aiPrimitiveType_LINE);
  // Axes stay as the file has them: robots' files are written z up, whatever COLLADA's header says (as ROS takes them).
  importer.SetPropertyBool(AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, true);
  const std::size_t dot = name.rfind('.');
  const std::string hint = dot == std::string::npos ? "" : name.substr(dot + 1);
  const aiScene* scene = importer.ReadFileFromMemory(bytes.data(), bytes.size(),
                                                     aiProcess_Triangulate | aiProcess_SortByPType, hint.c_str());
  if (scene == nullptr || scene->mRootNode == nullptr) {
    out.problem = "assimp cannot read it: " + std::string(importer.GetErrorString());
    return out;
  }
  add_node(*scene, *scene->mRootNode, aiMatrix4x4(), 0, &out);
  if (out.triangles.empty()) out.problem = "no triangle in it";
  if (out.triangles.size() > kMaxTriangles)
    out.problem = "more than the limit of " + std::to_string(kMaxTriangles) + " triangles";
  for (const Vec3& p : out.vertices)
    if (!p.allFinite()) out.problem = "has points that are no numbers";
  return out;
}
#else
SurfaceFile parse_foreign_mesh(const std::string& name, const std::string&) {
  SurfaceFile out;
  out.problem = "meshes are read from .obj and .stl; this build has no assimp for others (" + name + ")";
  return out;
}
#endif

}  // namespace slipstick
