// What the programs of this folder share: a scene in plain lines (docs/benchmarks.md) from standard input, and the
// answer.
#pragma once

#include <time.h>

#include <array>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

struct PeerPose {
  std::array<double, 3> position;
  std::array<double, 4> orientation;  ///< w x y z
};

struct PeerBody {
  double mass;  ///< 0: fixed
  std::array<double, 3> inertia;
  PeerPose pose;
  std::array<double, 3> velocity, spin;  ///< world
};

struct PeerShape {
  std::string kind;  ///< sphere, box, capsule, cylinder (axis z), plane (normal z)
  int body;
  double friction, restitution;
  std::array<double, 3> size;  ///< box: half sizes; others: radius, half length
  PeerPose pose;               ///< in the body's frame
};

struct PeerBall {
  int a, b;  ///< -1: the world
  std::array<double, 3> at_a, at_b;
};

struct PeerForce {
  int body;
  long first, last;  ///< steps [first, last)
  std::array<double, 3> force;
};

struct PeerScene {
  long steps = 0, interval = 1;
  double step = 0;
  double limit = 0;  ///< s of wall time for all steps; 0: none
  std::array<double, 3> gravity{};
  std::vector<PeerBody> bodies;
  std::vector<PeerShape> shapes;
  std::vector<PeerBall> balls;
  std::vector<std::array<int, 2>> apart;
  std::vector<PeerForce> forces;
};

template <std::size_t N>
std::istream& operator>>(std::istream& in, std::array<double, N>& numbers) {
  for (double& number : numbers) in >> number;
  return in;
}
inline std::istream& operator>>(std::istream& in, PeerPose& pose) { return in >> pose.position >> pose.orientation; }

/// False: not such a scene.
inline bool read_peer_scene(std::istream& in, PeerScene* scene) {
  std::string word;
  int version = 0;
  if (!(in >> word >> version) || word != "slipstick-peer" || version != 1) return false;
  while (in >> word && word != "end") {
    if (word == "steps") {
      in >> scene->steps >> scene->interval >> scene->step;
    } else if (word == "limit") {
      in >> scene->limit;
    } else if (word == "gravity") {
      in >> scene->gravity;
    } else if (word == "body") {
      PeerBody& b = scene->bodies.emplace_back();
      in >> b.mass >> b.inertia >> b.pose >> b.velocity >> b.spin;
    } else if (word == "shape") {
      PeerShape& s = scene->shapes.emplace_back();
      in >> s.kind >> s.body >> s.friction >> s.restitution >> s.size >> s.pose;
    } else if (word == "ball") {
      PeerBall& j = scene->balls.emplace_back();
      in >> j.a >> j.b >> j.at_a >> j.at_b;
    } else if (word == "apart") {
      std::array<int, 2>& pair = scene->apart.emplace_back();
      in >> pair[0] >> pair[1];
    } else if (word == "force") {
      PeerForce& f = scene->forces.emplace_back();
      in >> f.body >> f.first >> f.last >> f.force;
    } else {
      return false;
    }
  }
  return word == "end";
}

inline double read_seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// One line a body: position, orientation, velocity, spin.
template <class Engine>
void print_sample(const PeerScene& scene, Engine* engine) {
  const auto print = [](const auto& numbers) {
    for (const double x : numbers) std::printf("%.17g ", x);
  };
  std::printf("sample\n");
  for (int i = 0; i < static_cast<int>(scene.bodies.size()); ++i) {
    const PeerPose pose = engine->pose(i);
    print(pose.position);
    print(pose.orientation);
    print(engine->velocity(i));
    print(engine->spin(i));
    std::printf("\n");
  }
}

/// Why it cannot go on, from an engine that says so.
template <class Engine>
std::string find_failure(Engine* engine) {
  if constexpr (requires { engine->failure(); }) return engine->failure();
  return "";
}

/// Steps an engine through the scene and prints the answer. Engine: name(), push(body, force), step(h), and
/// pose(body), velocity(body), spin(body) as the arrays above; it may have failure(), a text that is not empty once it
/// is lost.
template <class Engine>
int run_peer(const PeerScene& scene, Engine* engine) {
  std::printf("engine %s\n", engine->name().c_str());
  std::vector<double> seconds;
  const double begin = read_seconds(CLOCK_MONOTONIC);
  std::string failure = find_failure(engine);
  bool late = false;
  for (long k = 0; k < scene.steps && failure.empty() && !late; ++k) {
    for (const PeerForce& f : scene.forces)
      if (k >= f.first && k < f.last) engine->push(f.body, f.force);
    const double start = read_seconds(CLOCK_PROCESS_CPUTIME_ID);
    engine->step(scene.step);
    seconds.push_back(read_seconds(CLOCK_PROCESS_CPUTIME_ID) - start);
    failure = find_failure(engine);
    late = scene.limit > 0 && k + 1 < scene.steps && read_seconds(CLOCK_MONOTONIC) - begin > scene.limit;
    if ((k + 1) % scene.interval == 0 || k + 1 == scene.steps || late) print_sample(scene, engine);
  }
  if (late) std::printf("cut\n");
  for (const double each : seconds) std::printf("seconds %.9g\n", each);
  if (!failure.empty()) std::printf("failure %s\n", failure.c_str());
  std::printf("end\n");
  return 0;
}
