// Room: base. The small vocabulary of numbers that every room shares.
#pragma once

// As in the library; programs without CMake and pkg-config need no flag either if this comes before Eigen.
#if !defined(EIGEN_MAX_ALIGN_BYTES) && !defined(EIGEN_CORE_MODULE_H) && !defined(EIGEN_CORE_H)
#define EIGEN_MAX_ALIGN_BYTES 16
#endif
#include <slipstick/vector_storage.h>

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <limits>
#include <string>
#include <vector>

// Flags that change the layout of types would end in a crash far from here: one error instead (docs/library.md).
static_assert(
    alignof(Eigen::Quaterniond) == 16 && alignof(Eigen::Vector2d) == 16 && EIGEN_MAX_ALIGN_BYTES == 16,
    "slipstick: Eigen has another alignment here than in the library. Compile with -DEIGEN_MAX_ALIGN_BYTES=16 "
    "(CMake: link slipstick::slipstick; pkg-config: --cflags), or include slipstick before Eigen, and do not "
    "define EIGEN_DONT_ALIGN or EIGEN_DONT_VECTORIZE.");
static_assert(!Eigen::Matrix3d::IsRowMajor && sizeof(Eigen::Index) == 8,
              "slipstick: do not define EIGEN_DEFAULT_TO_ROW_MAJOR or EIGEN_DEFAULT_DENSE_INDEX_TYPE.");
#ifdef __GLIBCXX__
static_assert(sizeof(std::vector<int>) == 3 * sizeof(void*) && sizeof(std::string) == 32,
              "slipstick: do not define _GLIBCXX_DEBUG or _GLIBCXX_USE_CXX11_ABI=0: containers have another layout.");
#endif

namespace slipstick {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Vec2 = Eigen::Vector2d;
using Vec3 = Eigen::Vector3d;
using Vec6 = Eigen::Matrix<double, 6, 1>;
using Mat3 = Eigen::Matrix3d;
using Mat6 = Eigen::Matrix<double, 6, 6>;
using VecX = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::DontAlign>;  // converts to and from Eigen::VectorXd
using MatX = Eigen::MatrixXd;
using Quat = Eigen::Quaterniond;  // unit, body to world; written [w, x, y, z] wherever a person sees it

/// A rigid placement: p_W = R(orientation) p_B + position.
struct Pose {
  Vec3 position = Vec3::Zero();
  Quat orientation = Quat::Identity();
};

/// A rigid body's velocity: `linear` is that of the centre of mass in WORLD axes, `angular` is in BODY
/// axes, so that the mass matrix diag(m I, I_body) is constant (docs/notation.md).
struct Twist {
  Vec3 linear = Vec3::Zero();
  Vec3 angular = Vec3::Zero();
};

}  // namespace slipstick
