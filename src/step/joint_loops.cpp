#include "step/joint_loops.h"

#include <numeric>

#include "step/overlap.h"

namespace slipstick {

namespace {

int find_root(std::vector<int>* group, int i) {
  while ((*group)[i] != i) i = (*group)[i] = (*group)[(*group)[i]];
  return i;
}

}  // namespace

/// What does not move is one body here.
void JointLoops::update(const Model& model, const std::vector<JointRows>& rows) {
  if (closes.size() == model.joints.size()) return;
  const int world = static_cast<int>(model.bodies.size());
  std::vector<int> group(model.bodies.size() + 1);
  std::iota(group.begin(), group.end(), 0);
  closes.assign(model.joints.size(), 0);
  within.assign(model.joints.size(), 0);
  size.resize(model.joints.size());
  const auto node = [&](int body) { return body < 0 || model.bodies[body].kind != BodyKind::Dynamic ? world : body; };
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    const int a = find_root(&group, node(joint.a)), b = find_root(&group, node(joint.b));
    closes[j] = a == b;
    group[a] = b;
    size[j] = calc_joint_size(model, joint);
  }
  std::vector<char> has_loop(group.size(), 0);
  const auto root_of = [&](const Joint& joint) {
    const int a = node(joint.a);
    return find_root(&group, a == world ? node(joint.b) : a);
  };
  for (std::size_t j = 0; j < model.joints.size(); ++j)
    if (closes[j]) has_loop[root_of(model.joints[j])] = 1;
  for (std::size_t j = 0; j < model.joints.size(); ++j) within[j] = has_loop[root_of(model.joints[j])];
  find_redundant(model, rows);
}

/// By Gruebler's count over what is left of a group when bodies with one joint, which end in nothing, are taken away:
/// the same at every pose.
void JointLoops::find_redundant(const Model& model, const std::vector<JointRows>& rows) {
  redundant = within;
  std::vector<char> gone(model.joints.size(), 0);
  std::vector<int> degree(model.bodies.size(), 0);
  const auto moves = [&](int body) { return body >= 0 && model.bodies[body].kind == BodyKind::Dynamic; };
  for (std::size_t j = 0; j < rows.size(); ++j) {
    gone[j] = rows[j].count == 0;
    for (const int body : {model.joints[j].a, model.joints[j].b})
      if (moves(body) && !gone[j]) ++degree[body];
  }
  for (bool more = true; more;) {
    more = false;
    for (std::size_t j = 0; j < rows.size(); ++j) {
      const int a = model.joints[j].a, b = model.joints[j].b;
      if (gone[j] || !((moves(a) && degree[a] == 1) || (moves(b) && degree[b] == 1))) continue;
      gone[j] = more = true;
      for (const int body : {a, b})
        if (moves(body)) --degree[body];
    }
  }
  std::vector<int> group(model.bodies.size() + 1), freedoms(group.size(), 0);
  std::iota(group.begin(), group.end(), 0);
  for (std::size_t j = 0; j < rows.size(); ++j)  // the world does not connect
    if (const Joint& joint = model.joints[j]; !gone[j] && moves(joint.a) && moves(joint.b))
      group[find_root(&group, joint.a)] = find_root(&group, joint.b);
  const auto root_of_joint = [&](std::size_t j) {
    return find_root(&group, moves(model.joints[j].a) ? model.joints[j].a : model.joints[j].b);
  };
  for (std::size_t i = 0; i < model.bodies.size(); ++i)
    if (degree[i] > 0) freedoms[find_root(&group, static_cast<int>(i))] += model.bodies[i].dof;
  for (std::size_t j = 0; j < rows.size(); ++j)
    if (!gone[j] && (moves(model.joints[j].a) || moves(model.joints[j].b))) freedoms[root_of_joint(j)] -= rows[j].count;
  for (std::size_t j = 0; j < rows.size(); ++j)
    if (gone[j] || !(moves(model.joints[j].a) || moves(model.joints[j].b)) || freedoms[root_of_joint(j)] > 0)
      redundant[j] = 0;
}

}  // namespace slipstick
