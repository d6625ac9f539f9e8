// Ctrl-C ends a command in order: it looks here after each step, and the solvers within one.
#pragma once

#include <atomic>

/// From now on Ctrl-C (or SIGTERM) only sets a flag; a second one kills.
void listen_for_stop();
bool stop_requested();
/// For SimulationOptions::stop.
const std::atomic<bool>* stop_token();
