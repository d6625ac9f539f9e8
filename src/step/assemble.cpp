#include "step/assemble.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "base/se3.h"
#include "step/overlap.h"

namespace slipstick {

namespace {

/// A row whose every free entry is below this fraction of the whole row cannot be moved by any freedom.
constexpr double kLockedRow = 1e-12;
/// A joint with compliance but no damping time needs gamma > 0; with gamma = 0 it is a little implicit all the same.
constexpr double kLeastGamma = 1e-3;

bool is_zero_twist(const Twist& v) { return v.linear.isZero(0) && v.angular.isZero(0); }

Vec6 as_vector(const Twist& v) {
  Vec6 u;
  u << v.linear, v.angular;
  return u;
}

}  // namespace

bool is_row_movable(const StepInput& input, const RowMap& map, int body_a, int body_b, const PairRow& row) {
  // Any entry over the free directions of its two bodies that is not small, relative to the whole row, will do.
  const double least = kLockedRow * std::max(row.a.cwiseAbs().maxCoeff(), row.b.cwiseAbs().maxCoeff());
  if (!(least > 0)) return false;
  const auto moves = [&](int body, const Vec6& part) {
    if (body < 0 || map.column_of_body[body] < 0) return false;
    const Body& b = input.model->bodies[body];
    if (b.dof == 6) return part.cwiseAbs().maxCoeff() >= least;  // the basis is the identity
    for (int k = 0; k < b.dof; ++k)
      if (std::abs(part.dot(b.free_basis().col(k))) >= least) return true;
    return false;
  };
  return moves(body_a, row.a) || moves(body_b, row.b);
}

void begin_problem(const Model& model, Problem* problem, RowMap* map, std::span<const char> taking_part) {
  problem->clear();
  map->column_of_body.assign(model.bodies.size(), -1);
  int column = 0;
  for (std::size_t i = 0; i < model.bodies.size(); ++i)
    if (model.bodies[i].kind == BodyKind::Dynamic && model.bodies[i].dof > 0 && (taking_part.empty() || taking_part[i]))
      map->column_of_body[i] = column++;
}

void add_body_columns(const Model& model, const RowMap& map, Problem* problem) {
  problem->column_start.reserve(model.bodies.size() + 1);
  problem->mass_start.reserve(model.bodies.size() + 1);
  problem->mass.reserve(6 * static_cast<std::size_t>(model.dof));
  problem->b.reserve(model.dof);
  for (std::size_t i = 0; i < model.bodies.size(); ++i)
    if (map.column_of_body[i] >= 0) problem->add_column(model.bodies[i].dof);
}

void fill_body_column(const Body& body, const Vec6& momentum, const Mat3* gyroscopic, int column, Problem* problem) {
  BlockMap a(problem->mass.data() + problem->mass_start[column], body.dof, body.dof);
  double* b = problem->b.data() + problem->column_start[column];
  Mat3 inertia = body.inertia;
  if (gyroscopic != nullptr) inertia -= *gyroscopic;
  if (body.dof == 6) {
    a.diagonal().head<3>().setConstant(body.mass);
    a.bottomRightCorner<3, 3>() = inertia;
    Eigen::Map<Vec6> all(b);
    all = momentum;
    return;
  }
  for (int k = 0; k < body.dof; ++k) {
    const Vec6 s = body.free_basis().col(k);
    b[k] = s.dot(momentum);
    for (int j = 0; j < body.dof; ++j) {
      const Vec6 r = body.free_basis().col(j);
      a(j, k) = body.mass * r.head<3>().dot(s.head<3>()) + r.tail<3>().dot(inertia * s.tail<3>());
    }
  }
}

void add_body_column(const Body& body, const Vec6& momentum, const Mat3* gyroscopic, Problem* problem) {
  problem->add_column(body.dof);
  fill_body_column(body, momentum, gyroscopic, problem->columns() - 1, problem);
}

void add_pair_columns(const RowMap& map, int body_a, int body_b, Problem* problem) {
  for (const int body : {body_a, body_b})
    if (body >= 0 && map.column_of_body[body] >= 0) problem->add_entry(map.column_of_body[body]);
}

void fill_pair_entries(const StepInput& input, const RowMap& map, int body_a, int body_b, int first,
                       std::span<const PairRow> rows, const RowBlock& block, Problem* problem) {
  int entry = block.entry;
  const auto side = [&](int body, auto part) {
    if (body < 0) return;
    const Body& b = input.model->bodies[body];
    const int column = map.column_of_body[body];
    if (column >= 0) {
      double* out = problem->jacobian.data() + problem->entries[entry++].offset + first * b.dof;
      for (std::size_t r = 0; r < rows.size(); ++r, out += b.dof) {
        const Vec6& row = part(rows[r]);
        if (b.dof == 6) {
          std::copy_n(row.data(), 6, out);
        } else {
          for (int k = 0; k < b.dof; ++k) out[k] = row.dot(b.free_basis().col(k));
        }
      }
    } else if (b.kind == BodyKind::Kinematic && !is_zero_twist(input.prescribed[body])) {
      const Vec6 v = as_vector(input.prescribed[body]);
      for (std::size_t r = 0; r < rows.size(); ++r) problem->c[block.row + first + r] += part(rows[r]).dot(v);
    }
  };
  side(body_a, [](const PairRow& row) -> const Vec6& { return row.a; });
  side(body_b, [](const PairRow& row) -> const Vec6& { return row.b; });
}

void add_pair_entries(const StepInput& input, const RowMap& map, int body_a, int body_b, std::span<const PairRow> rows,
                      Problem* problem) {
  add_pair_columns(map, body_a, body_b, problem);
  fill_pair_entries(input, map, body_a, body_b, 0, rows, problem->blocks.back(), problem);
}

void add_pair_impulse(const StepInput& input, const RowMap& map, int body_a, int body_b, const PairRow& row,
                      double impulse, Problem* problem) {
  const auto side = [&](int body, const Vec6& part) {
    if (body < 0 || map.column_of_body[body] < 0) return;
    const Body& b = input.model->bodies[body];
    double* out = problem->b.data() + problem->column_start[map.column_of_body[body]];
    for (int k = 0; k < b.dof; ++k) out[k] += impulse * (b.dof == 6 ? part[k] : part.dot(b.free_basis().col(k)));
  };
  side(body_a, row.a);
  side(body_b, row.b);
}

double calc_pair_mobility(const Model& model, int body_a, int body_b, const PairRow& row) {
  double mobility = 0;
  const auto side = [&](int body, const Vec6& part) {
    if (body < 0 || model.bodies[body].kind != BodyKind::Dynamic) return;
    const Body& b = model.bodies[body];
    Vec6 free = b.dof == 6 ? part : Vec6(Vec6::Zero());
    for (int k = 0; k < b.dof && b.dof < 6; ++k) free += part.dot(b.free_basis().col(k)) * b.free_basis().col(k);
    mobility += free.head<3>().squaredNorm() / b.mass + free.tail<3>().dot(b.inertia_inverse * free.tail<3>());
  };
  side(body_a, row.a);
  side(body_b, row.b);
  return mobility;
}

int count_free_rotations(const Body& body) {
  if (body.dof == 6) return 3;
  int rotations = 0;
  for (int k = 0; k < body.dof; ++k) rotations += body.free_basis().col(k).tail<3>().squaredNorm() > 0.5 ? 1 : 0;
  return rotations;
}

void add_joint_rows(const StepInput& input, const Weights& weights, const std::vector<JointRows>& joints,
                    double stabilization, Problem* problem, RowMap* map) {
  map->joint_row.assign(input.model->joint_rows, -1);
  for (const JointRows& joint : joints) {
    if (input.h == 0 && joint.compliance > 0) continue;
    std::array<PairRow, 6> kept;
    std::array<double, 6> value;
    int count = 0;
    const int first_impulse = input.model->joints[joint.joint].first_row;
    const int first_row = problem->rows();
    for (int r = 0; r < joint.count; ++r) {
      if (!is_row_movable(input, *map, joint.body_a, joint.body_b, joint.row[r])) continue;
      map->joint_row[first_impulse + r] = first_row + count;
      kept[count] = joint.row[r];
      value[count++] = joint.compliance > 0 ? joint.value[r] : calc_row_error(input, joint, r);
    }
    if (count == 0) continue;
    problem->add_block(LawKind::Equality, count).mode = input.model->joints[joint.joint].solve;
    for (int r = 0; r < count && input.h > 0; ++r) {
      if (joint.compliance == 0) {
        problem->c[first_row + r] = stabilization * value[r] / (input.h_nominal + joint.damping_time);
        continue;
      }
      // A compliance eps with damping time tau is a spring k = 1/eps, d = tau/eps (add_spring_rows); eps -> 0 is rigid.
      const double rate = 1 / (std::max(weights.gamma, kLeastGamma) * input.h + joint.damping_time);
      const double lag = (weights.alpha - weights.gamma) * input.h;
      const double ahead =
          lag == 0 ? 0 : lag * calc_pair_speed(input.state->velocity, joint.body_a, joint.body_b, kept[r]);
      problem->c[first_row + r] = (value[r] + ahead) * rate;
      problem->compliance[first_row + r] = joint.compliance * rate / (weights.alpha * input.h);
    }
    add_pair_entries(input, *map, joint.body_a, joint.body_b, {kept.data(), static_cast<std::size_t>(count)}, problem);
  }
}

void add_spring_rows(const StepInput& input, const Weights& weights, const std::vector<SpringRows>& springs,
                     std::span<const double> before, Problem* problem, RowMap* map) {
  map->spring_row.assign(springs.size(), -1);
  map->spring_known.assign(springs.size(), {});
  const double h = input.h, alpha = weights.alpha, gamma = weights.gamma;
  for (std::size_t i = 0; i < springs.size(); ++i) {
    const SpringRows& spring = springs[i];
    const bool flies = before[i] > 0;
    const double stiffness = flies ? 0 : spring.stiffness;
    const double s = alpha * (flies ? before[i] * spring.damping : h * (gamma * h * stiffness + spring.damping));
    for (int r = 0; r < spring.count && flies; ++r) {
      map->spring_known[i][r] = -before[i] * spring.stiffness * spring.value[r];
      add_pair_impulse(input, *map, spring.body_a, spring.body_b, spring.row[r], map->spring_known[i][r], problem);
    }
    if (!(s > 0) && (flies || !(stiffness > 0))) continue;
    const auto ahead = [&](int r, double weight) {
      return weight == 0
                 ? 0.0
                 : weight * h * calc_pair_speed(input.state->velocity, spring.body_a, spring.body_b, spring.row[r]);
    };
    if (!(s > 0)) {  // explicit: l = -alpha h k (phi + alpha h g^T v)
      for (int r = 0; r < spring.count; ++r) {
        map->spring_known[i][r] = -alpha * h * spring.stiffness * (spring.value[r] + ahead(r, alpha));
        add_pair_impulse(input, *map, spring.body_a, spring.body_b, spring.row[r], map->spring_known[i][r], problem);
      }
      continue;
    }
    problem->add_block(LawKind::Equality, spring.count);
    const int row = problem->blocks.back().row;
    map->spring_row[i] = row;
    for (int r = 0; r < spring.count; ++r) {
      problem->compliance[row + r] = 1 / s;
      problem->c[row + r] = alpha * h * stiffness * (spring.value[r] + ahead(r, alpha - gamma)) / s;
    }
    add_pair_entries(input, *map, spring.body_a, spring.body_b,
                     {spring.row.data(), static_cast<std::size_t>(spring.count)}, problem);
  }
}

namespace {

/// The law of a contact's row block.
void set_contact_law(const StepInput& input, const ContactRows& contact, RowBlock* block) {
  const bool slippery = contact.friction == 0;
  block->size = slippery ? 1 : contact.count + contact.extra;
  block->law = slippery ? LawKind::Nonnegative : LawKind::Friction;
  block->friction = input.options->friction;
  // Further limits are those of the true cone; in the plane sliding and rolling are two intervals, a box.
  if (contact.extra > 0) block->friction = contact.count == 2 ? FrictionModel::Box : FrictionModel::Cone;
  block->facets = input.options->facets;
  block->mu = contact.friction;
  block->mode = contact.solve;
  block->rigid = input.contacts->contacts[contact.contact].limit >= 0;
}

/// The row blocks of all contacts with a finite offset, their numbers to be filled in. Problem::add_block and add_entry
/// do the same for one of them; here the lists of numbers grow once.
void add_contact_blocks(const StepInput& input, const std::vector<ContactRows>& contacts,
                        std::span<const double> offset, Problem* problem, RowMap* map) {
  std::size_t rows = problem->c.size(), numbers = problem->jacobian.size();
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    if (!std::isfinite(offset[i])) continue;
    map->contact_block[i] = static_cast<int>(problem->blocks.size());
    map->contact_row[i] = static_cast<int>(rows);
    RowBlock block;
    set_contact_law(input, contacts[i], &block);
    block.row = static_cast<int>(rows);
    block.entry = static_cast<int>(problem->entries.size());
    for (const int body : {contacts[i].body_a, contacts[i].body_b}) {
      const int column = body >= 0 ? map->column_of_body[body] : -1;
      if (column < 0) continue;
      problem->entries.push_back({column, static_cast<int>(numbers)});
      numbers += static_cast<std::size_t>(block.size) * problem->column_size(column);
      ++block.entries;
    }
    rows += block.size;
    problem->blocks.push_back(block);
  }
  problem->jacobian.resize(numbers, 0.0);
  for (std::vector<double>* list : {&problem->c, &problem->compliance, &problem->lower, &problem->upper})
    list->resize(rows, 0.0);
}

void fill_contact_block(const StepInput& input, const ContactRows& contact, double offset, const RowMap& map,
                        const RowBlock& block, Problem* problem) {
  const int own = std::min(block.size, contact.count);
  problem->c[block.row] = offset;
  for (int k = 1; k < own; ++k) problem->c[block.row + k] = contact.drift[k];
  fill_pair_entries(input, map, contact.body_a, contact.body_b, 0, {contact.row.data(), static_cast<std::size_t>(own)},
                    block, problem);
  if (block.size > own)
    fill_pair_entries(input, map, contact.body_a, contact.body_b, own, contact.turn, block, problem);
}

}  // namespace

void add_contact_rows(const StepInput& input, const std::vector<ContactRows>& contacts, std::span<const double> offset,
                      Problem* problem, RowMap* map) {
  map->contact_row.assign(contacts.size(), -1);
  map->contact_block.assign(contacts.size(), -1);
  const std::size_t most = std::count_if(offset.begin(), offset.end(), [](double x) { return std::isfinite(x); });
  reserve_rows(most, 3, problem);
  add_contact_blocks(input, contacts, offset, problem, map);
  for_portions(input.team, contacts.size(), kContactPortion, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      if (map->contact_block[i] >= 0)
        fill_contact_block(input, contacts[i], offset[i], *map, problem->blocks[map->contact_block[i]], problem);
  });
}

void reserve_rows(std::size_t blocks, std::size_t rows, Problem* problem) {
  // A little more than is needed: the next step has a few more.
  const auto grow = [](auto* list, std::size_t more) {
    const std::size_t all = list->size() + more;
    if (list->capacity() >= all) return;
    if (list->empty()) std::decay_t<decltype(*list)>().swap(*list);  // not both at the same time
    list->reserve(all + all / 8);
  };
  grow(&problem->blocks, blocks);
  grow(&problem->entries, 2 * blocks);
  grow(&problem->jacobian, 12 * rows * blocks);
  for (std::vector<double>* list : {&problem->c, &problem->compliance, &problem->lower, &problem->upper})
    grow(list, rows * blocks);
}

double calc_largest_normal(const StepProblem& made, const Solution& solution) {
  double largest = 0;
  for (const int row : made.map.contact_row)
    if (row >= 0) largest = std::max(largest, solution.lambda[row]);
  return largest;
}

Twist calc_body_twist(const StepInput& input, const RowMap& map, const Problem& problem, const VecX& v, int body) {
  const Body& b = input.model->bodies[body];
  const int column = map.column_of_body[body];
  if (column < 0) return input.prescribed[body];
  const double* eta = v.data() + problem.column_start[column];
  if (b.dof == 6) {  // the basis is the identity; zero has the sign that a sum leaves it
    const Vec6 all = Eigen::Map<const Vec6>(eta) + Vec6::Zero();
    return {all.head<3>(), all.tail<3>()};
  }
  Vec6 u = Vec6::Zero();
  for (int k = 0; k < b.dof; ++k) u += eta[k] * b.free_basis().col(k);
  return {u.head<3>(), u.tail<3>()};
}

void update_turning(const StepInput& input, const RowMap& map, std::vector<char>* turning) {
  const Model& model = *input.model;
  turning->resize(model.bodies.size());
  for (std::size_t i = 0; i < model.bodies.size(); ++i)
    (*turning)[i] = map.column_of_body[i] >= 0 && count_free_rotations(model.bodies[i]) == 3;
}

Vec3 calc_turning_momentum(const Body& body, bool turning, const Vec3& omega, const Vec3& torque, double h,
                           Vec3* moment) {
  // Only rotations that are all free precess; a body held to one axis cannot, and one held to two axes follows
  // the antisymmetric 2x2 part of F, turned by the midpoint rule.
  moment->setZero();
  int rotations = body.dof == 6 ? 3 : 0;
  Eigen::Matrix<double, 3, 3> p = Mat3::Zero();
  for (int k = 0; k < body.dof && body.dof < 6; ++k)
    if (body.free_basis().col(k).tail<3>().squaredNorm() > 0.5) p.col(rotations++) = body.free_basis().col(k).tail<3>();
  const Vec3 spun = body.inertia * omega;
  if (rotations == 3) {
    const Vec3 u = calc_free_turn(body, turning ? Vec3(spun + torque) : spun, h);
    const Vec3 turned = calc_turn_moment(body, u, h);
    if (!turning) return spun + torque - 2 * turned;
    *moment = turned;
    return spun + torque - turned;
  }
  if (rotations < 2) return spun + torque;
  const Eigen::Matrix<double, 3, 2> q = p.leftCols<2>();
  const Eigen::Matrix2d inertia = q.transpose() * body.inertia * q;
  const Eigen::Matrix2d f = q.transpose() * skew(spun) * q;
  const Vec2 eta = q.transpose() * omega;
  const Vec2 turned = (inertia - 0.5 * h * f).inverse() * ((inertia + 0.5 * h * f) * eta);
  return body.inertia * (q * turned) + torque;
}

}  // namespace slipstick
