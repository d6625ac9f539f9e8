// Bodies and their ball joints as trees, for engines with generalized coordinates.
#pragma once

#include <deque>
#include <vector>

#include "peer.h"

/// Which body hangs on which, by which joint.
struct Tree {
  explicit Tree(const PeerScene& scene);
  std::vector<int> joint;               ///< that a body hangs on; -1: it is free, or fixed
  std::vector<std::vector<int>> below;  ///< bodies that hang on a body
  std::vector<int> roots, loops;        ///< bodies in the world; joints between bodies that hang together already

 private:
  void grow(const PeerScene& scene, int root);
  std::vector<bool> planted_;
};

inline bool is_fixed(const PeerScene& scene, int body) { return body < 0 || scene.bodies[body].mass == 0; }

inline Tree::Tree(const PeerScene& scene)
    : joint(scene.bodies.size(), -1), below(scene.bodies.size()), planted_(scene.bodies.size()) {
  const int count = static_cast<int>(scene.bodies.size());
  std::vector<bool> used(scene.balls.size());
  // First what hangs on something fixed, then the rest on the first body of each.
  for (std::size_t k = 0; k < scene.balls.size(); ++k) {
    const PeerBall& ball = scene.balls[k];
    if (is_fixed(scene, ball.a) == is_fixed(scene, ball.b)) continue;
    const int body = is_fixed(scene, ball.a) ? ball.b : ball.a;
    if (planted_[body]) continue;
    joint[body] = static_cast<int>(k);
    roots.push_back(body);
    grow(scene, body);
  }
  for (int i = 0; i < count; ++i) {
    if (planted_[i]) continue;
    roots.push_back(i);
    planted_[i] = true;
    if (!is_fixed(scene, i)) grow(scene, i);
  }
  for (const int each : joint)
    if (each >= 0) used[each] = true;
  for (std::size_t k = 0; k < scene.balls.size(); ++k)
    if (!used[k] && !(is_fixed(scene, scene.balls[k].a) && is_fixed(scene, scene.balls[k].b)))
      loops.push_back(static_cast<int>(k));
}

inline void Tree::grow(const PeerScene& scene, int root) {
  planted_[root] = true;
  std::deque<int> open = {root};
  while (!open.empty()) {
    const int at = open.front();
    open.pop_front();
    for (std::size_t k = 0; k < scene.balls.size(); ++k) {
      const PeerBall& ball = scene.balls[k];
      const int next = ball.a == at ? ball.b : ball.b == at ? ball.a : -1;
      if (is_fixed(scene, next) || planted_[next]) continue;
      planted_[next] = true;
      joint[next] = static_cast<int>(k);
      below[at].push_back(next);
      open.push_back(next);
    }
  }
}
