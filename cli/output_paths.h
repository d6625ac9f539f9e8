// Where a command may write: never over what it reads, nor two things into one file.
#pragma once

#include <string>
#include <vector>

struct OutputPath {
  const char* option;
  std::string path;  ///< empty: not asked for
};

/// The same file under whatever names.
bool is_same_file(const std::string& a, const std::string& b);

/// False, and one line said, if an output is one of the inputs, two are the same file or, with `no_clobber`, one is
/// there already. `input_kind`: what the first input is, "scene"; the others are files that it uses.
bool check_outputs(const char* command, const std::vector<OutputPath>& outputs, const char* input_kind,
                   const std::vector<std::string>& inputs, bool no_clobber);
