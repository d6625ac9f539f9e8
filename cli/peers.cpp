#include "peers.h"

#include "stop.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

extern char** environ;

namespace {

namespace fs = std::filesystem;

fs::path find_program(const Peer& peer) {
  std::error_code code;
  const fs::path folder = fs::read_symlink("/proc/self/exe", code).parent_path();
  return folder / peer.program;
}

/// A file without a name, gone when it is closed.
using Scratch = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
Scratch make_scratch() { return {std::tmpfile(), std::fclose}; }

std::string read_all(std::FILE* file) {
  std::string text;
  std::rewind(file);
  char part[65536];
  for (std::size_t n; (n = std::fread(part, 1, sizeof part, file)) > 0;) text.append(part, n);
  return text;
}

/// False: it was ended because it took too long, or because the user asked for an end.
bool wait_for(pid_t child, double limit, int* status) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(limit);
  while (waitpid(child, status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end || stop_requested()) {
      kill(child, SIGKILL);
      waitpid(child, status, 0);
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace

std::vector<Peer> find_peers(std::vector<std::string>* missing) {
  const std::vector<Peer> known = {{"Bullet", "slipstick_peer_bullet", "10", "libbullet-dev"},
                                   {"Bullet", "slipstick_peer_bullet", "100", "libbullet-dev"},
                                   {"ODE", "slipstick_peer_ode", "quick", "libode-dev"},
                                   {"ODE", "slipstick_peer_ode", "direct", "libode-dev"},
                                   {"MuJoCo", "slipstick_peer_mujoco", "default", "libmujoco-dev"},
                                   {"MuJoCo", "slipstick_peer_mujoco", "stiff", "libmujoco-dev"},
                                   {"MuJoCo", "slipstick_peer_mujoco", "stiff-cg", "libmujoco-dev"},
                                   {"DART", "slipstick_peer_dart", "dantzig", "libdart-collision-ode-dev"},
                                   {"DART", "slipstick_peer_dart", "pgs", "libdart-collision-ode-dev"},
                                   {"Jolt (wasm)", "slipstick_peer_jolt", "default", "npm"},
                                   {"Jolt (wasm)", "slipstick_peer_jolt", "4", "npm"},
                                   {"Jolt (wasm)", "slipstick_peer_jolt", "10", "npm"},
                                   {"Jolt (wasm)", "slipstick_peer_jolt", "50", "npm"},
                                   {"Rapier (wasm)", "slipstick_peer_rapier", "default", "npm"},
                                   {"Rapier (wasm)", "slipstick_peer_rapier", "20", "npm"}};
  std::vector<Peer> found;
  for (const Peer& peer : known) {
    std::error_code code;
    if (fs::exists(find_program(peer), code)) {
      found.push_back(peer);
    } else if (std::find(missing->begin(), missing->end(), peer.package) == missing->end()) {
      missing->push_back(peer.package);
    }
  }
  return found;
}

PeerAnswer ask_peer(const Peer& peer, const std::string& input, double limit) {
  const Scratch in = make_scratch(), out = make_scratch();
  if (!in || !out) return {"", "no room for temporary files"};
  if (std::fwrite(input.data(), 1, input.size(), in.get()) != input.size() || std::fflush(in.get()) != 0)
    return {"", "no room for temporary files"};
  std::rewind(in.get());
  std::string program = find_program(peer).string(), setting = peer.setting;
  char* const words[] = {program.data(), setting.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(in.get()), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(out.get()), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int fault = posix_spawn(&child, program.c_str(), &actions, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (fault != 0) return {"", "its program could not be started"};
  int status = 0;
  if (!wait_for(child, limit, &status))
    return {"", stop_requested() ? "interrupted" : "gave no answer in " + std::to_string(std::lround(limit)) + " s"};
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return {read_all(out.get()), "its program broke down"};
  return {read_all(out.get()), ""};
}
