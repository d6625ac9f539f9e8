#include "unit/collision/flush_support.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

namespace slipstick::test {
namespace {

/// Of the size: corners nearer to each other than this are one, and contacts may be as far from where they should be.
constexpr double kPlace = 3e-5;

/// Half of the polygons' vertices may be on a line with their neighbours: not corners.
std::vector<Vec2> find_corners(const std::vector<Vec2>& polygon, double same) {
  std::vector<Vec2> once;
  for (const Vec2& p : polygon) {
    const bool known = std::any_of(once.begin(), once.end(), [&](const Vec2& q) { return (p - q).norm() <= same; });
    if (!known) once.push_back(p);
  }
  std::vector<Vec2> corners;
  const std::size_t n = once.size();
  for (std::size_t k = 0; k < n; ++k) {
    const Vec2 in = once[k] - once[(k + n - 1) % n], out = once[(k + 1) % n] - once[k];
    if (std::abs(in.x() * out.y() - in.y() * out.x()) > 10 * same * std::min(in.norm(), out.norm())) {
      corners.push_back(once[k]);
    }
  }
  return corners;
}

/// The part of a convex polygon with |x| <= h.x and |y| <= h.y.
std::vector<Vec2> cut_to_rectangle(std::vector<Vec2> polygon, const Vec2& h) {
  for (int side = 0; side < 4; ++side) {
    const int axis = side / 2;
    const double sign = side % 2 ? 1 : -1;
    std::vector<Vec2> left;
    for (std::size_t k = 0; k < polygon.size(); ++k) {
      const Vec2 &p = polygon[k], &q = polygon[(k + 1) % polygon.size()];
      const double in_p = h[axis] - sign * p[axis], in_q = h[axis] - sign * q[axis];
      if (in_p >= 0) left.push_back(p);
      if ((in_p > 0) != (in_q > 0) && in_p != in_q) left.push_back(p + in_p / (in_p - in_q) * (q - p));
    }
    polygon = left;
  }
  return polygon;
}

double calc_area(const std::vector<Vec2>& polygon) {
  double twice = 0;
  for (std::size_t k = 0; k < polygon.size(); ++k) {
    const Vec2 &p = polygon[k], &q = polygon[(k + 1) % polygon.size()];
    twice += p.x() * q.y() - p.y() * q.x();
  }
  return twice / 2;
}

/// Where B's middle may be over A along one axis: in line with a side, on a middle, half over the edge, anywhere.
double choose_place(double half_a, double half_b, Random* random) {
  const double sign = random->index(2) ? 1 : -1;
  switch (random->index(6)) {
    case 0:
      return 0;
    case 1:
    case 2:
      return sign * (half_a - half_b);
    case 3:
      return sign * half_a;
    case 4:
      return sign * half_b;
    default:
      return random->uniform(-1, 1) * (half_a + 0.7 * half_b);
  }
}

}  // namespace

std::shared_ptr<const Surface> make_box_mesh(const Vec3& half, int cells, Random* random) {
  std::array<std::vector<double>, 3> lines;  // the same on opposite faces: neighbours share their vertices
  for (int axis = 0; axis < 3; ++axis) {
    for (int i = 0; i <= cells; ++i) {
      const bool end = i == 0 || i == cells;
      const double aside = random && !end ? random->uniform(-0.3, 0.3) : 0;
      lines[axis].push_back(i == cells ? half[axis] : half[axis] * (2 * (i + aside) / cells - 1));
    }
  }
  std::vector<Vec3> vertices;
  std::vector<Triangle> triangles;
  for (int face = 0; face < 6; ++face) {
    const int axis = face / 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
    const bool up = face % 2;
    for (int i = 0; i < cells; ++i) {
      for (int j = 0; j < cells; ++j) {
        const auto first = static_cast<std::int32_t>(vertices.size());
        for (int k = 0; k < 4; ++k) {  // counter-clockwise seen along the axis
          Vec3 p;
          p[axis] = up ? half[axis] : -half[axis];
          p[u] = lines[u][i + (k == 1 || k == 2)];
          p[v] = lines[v][j + (k >= 2)];
          vertices.push_back(p);
        }
        const int turn = random ? random->index(2) : 0;  // along which diagonal
        for (const auto& t : {std::array{0, 1, 2}, std::array{0, 2, 3}}) {
          Triangle triangle;
          for (int k = 0; k < 3; ++k) triangle[up ? k : 2 - k] = first + (t[k] + turn) % 4;
          triangles.push_back(triangle);
        }
      }
    }
  }
  return make_surface(vertices, triangles).surface;
}

const char* name_of(Form form) {
  constexpr std::array<const char*, 5> kNames{"box", "hull", "mesh", "fine mesh", "uneven mesh"};
  return kNames[static_cast<int>(form)];
}

Solid make_form(Form form, const Vec3& half, Random* random) {
  if (form == Form::Box) return make_box(half);
  Solid solid;
  if (form == Form::Hull) {
    std::vector<Vec3> points;
    for (int k = 0; k < 8; ++k)
      points.push_back(Vec3(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1).cwiseProduct(half));
    return make_hull_solid(points);
  }
  solid.shape.kind = ShapeKind::Mesh;
  solid.surface = form == Form::Mesh   ? make_box_mesh(half)
                  : form == Form::Fine ? make_box_mesh(half, 3)
                                       : make_box_mesh(half, 2 + random->index(3), random);
  return solid;
}

FlushPlacement make_flush_placement(double offset, Random* random) {
  constexpr std::array<double, 7> kHalves{0.05, 0.1, 0.1, 0.2, 0.25, 0.5, 1.0 / 3};
  const auto half = [&] { return kHalves[random->index(kHalves.size())]; };
  for (;;) {
    FlushPlacement placed;
    placed.half_a = {half(), half(), half()};
    placed.half_b = {half(), half(), half()};
    placed.size = std::min(placed.half_a.maxCoeff(), placed.half_b.maxCoeff());
    // B's face: which one is down, and how it is turned about the vertical.
    Quat stand = Quat::Identity();
    for (int k = 0; k < 3; ++k) {
      stand = Quat(Eigen::AngleAxisd(std::numbers::pi / 2 * random->index(4), Vec3::Unit(random->index(3)))) * stand;
    }
    const Vec3 lying = (stand * placed.half_b).cwiseAbs();
    const int way = random->index(4);
    const double yaw = way < 2 ? 0 : way == 2 ? std::numbers::pi / 4 : random->uniform(0, 6);
    const Eigen::Rotation2Dd turn(yaw);
    Vec2 at(choose_place(placed.half_a.x(), lying.x(), random), choose_place(placed.half_a.y(), lying.y(), random));
    if (yaw != 0 && random->index(2)) {  // a corner of B on an edge of A, or both corners at one place
      const double along = random->index(2) ? 1 : random->uniform(-1, 1);
      at = Vec2(placed.half_a.x(), along * placed.half_a.y()) - turn * Vec2(lying.x(), -lying.y());
    }
    const double aside = offset * placed.size;
    at += aside * Vec2(random->index(3) - 1, random->index(3) - 1);
    placed.gap = aside * (random->index(3) - 1);
    std::vector<Vec2> polygon;
    for (const Vec2& c : {Vec2(-1, -1), Vec2(1, -1), Vec2(1, 1), Vec2(-1, 1)}) {
      polygon.push_back(at + turn * c.cwiseProduct(lying.head<2>()));
    }
    polygon = cut_to_rectangle(polygon, placed.half_a.head<2>());
    if (calc_area(polygon) < 1e-3 * placed.size * placed.size) continue;
    // All of it somewhere in the world, or where it was.
    Pose frame;
    if (random->index(2)) frame = {3 * random->direction(), random->rotation()};
    const double top = placed.half_a.z();
    const auto as_world = [&](const Vec3& p) { return Vec3(frame.position + frame.orientation * p); };
    placed.a = frame;
    placed.b = {as_world({at.x(), at.y(), top + placed.gap + lying.z()}),
                frame.orientation * Quat(Eigen::AngleAxisd(yaw, Vec3::UnitZ())) * stand};
    placed.up = frame.orientation * Vec3::UnitZ();
    for (const Vec2& p : polygon) placed.outline.push_back(as_world({p.x(), p.y(), top}));
    for (const Vec2& p : find_corners(polygon, kPlace * placed.size)) {
      placed.corners.push_back(as_world({p.x(), p.y(), top}));
    }
    return placed;
  }
}

std::string find_flush_fault(const FlushPlacement& placement, const std::vector<Contact>& contacts) {
  std::ostringstream fault;
  const double near = 2 * kPlace * placement.size;
  for (const Contact& c : contacts) {
    if (!((c.normal - placement.up).norm() <= 1e-6)) fault << "normal " << c.normal.transpose() << "; ";
    if (!(std::abs(c.gap - placement.gap) <= 1e-9 * placement.size)) fault << "gap " << c.gap << "; ";
    // Inside of the outline, which is counter-clockwise seen from above.
    for (std::size_t k = 0; k < placement.outline.size(); ++k) {
      const Vec3& p = placement.outline[k];
      const Vec3 side = placement.outline[(k + 1) % placement.outline.size()] - p;
      if (side.norm() < near) continue;
      const double inside = placement.up.cross(side.normalized()).dot(c.point_a - p);
      if (inside < -near) fault << "outside by " << -inside << "; ";
    }
    for (const Contact& d : contacts) {
      if (&c < &d && (c.point_a - d.point_a).norm() < 1e-6 * placement.size) fault << "double; ";
    }
  }
  for (const Vec3& p : placement.corners) {
    const bool held =
        std::any_of(contacts.begin(), contacts.end(), [&](const Contact& c) { return (c.point_a - p).norm() <= near; });
    if (!held) fault << "corner missing; ";
  }
  return fault.str();
}

FlushPlacement make_moved(const FlushPlacement& placement, double by, Random* random) {
  FlushPlacement moved = placement;
  moved.b.position += by * placement.size * random->direction();
  moved.b.orientation = (Quat(Eigen::AngleAxisd(by, random->direction())) * placement.b.orientation).normalized();
  return moved;
}

}  // namespace slipstick::test
