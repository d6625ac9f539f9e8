// Room: base. The small vocabulary of numbers that every room shares.
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <limits>

namespace slipstick {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Vec2 = Eigen::Vector2d;
using Vec3 = Eigen::Vector3d;
using Vec6 = Eigen::Matrix<double, 6, 1>;
using Mat3 = Eigen::Matrix3d;
using Mat6 = Eigen::Matrix<double, 6, 6>;
using VecX = Eigen::VectorXd;
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
