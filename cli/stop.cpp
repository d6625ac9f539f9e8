#include "stop.h"

#include <atomic>
#include <csignal>

namespace {

std::atomic<bool> stop_flag = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal's handler writes it

extern "C" void request_stop(int) { stop_flag.store(true, std::memory_order_relaxed); }

}  // namespace

void listen_for_stop() {
  struct sigaction action {};
  action.sa_handler = request_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // The terminal has gone; who started the program with nohup wants it to go on.
  struct sigaction before {};
  sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
  // A pipe that nobody reads, a file that may not grow: errors of the write, not the end of the program.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

bool stop_requested() { return stop_flag.load(std::memory_order_relaxed); }
const std::atomic<bool>* stop_token() { return &stop_flag; }
