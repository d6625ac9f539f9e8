#include "stop.h"

#include <csignal>

namespace {

volatile std::sig_atomic_t stop_flag = 0;

extern "C" void request_stop(int) { stop_flag = 1; }

}  // namespace

void listen_for_stop() {
  struct sigaction action {};
  action.sa_handler = request_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool stop_requested() { return stop_flag != 0; }
