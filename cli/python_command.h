// Commands that are written in Python (docs/sweeps.md): the program hands its words over.
#pragma once

#include <string>

/// Whether Python does this command.
bool is_python_command(const std::string& name);

/// Becomes the script of `recheck` (docs/recheck.md), which uses nothing of this program. Returns only where that
/// fails.
int run_recheck(int count, char** words);

/// Becomes `python3 -m slipstick` with the words after the program's name. Returns only where that fails: with the exit
/// code.
int run_python_command(int count, char** words);
