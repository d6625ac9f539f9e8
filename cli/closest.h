// "Did you mean ...?" for what is typed on the command line.
#pragma once

#include <string>
#include <vector>

/// "a,b,c" to a, b and c.
std::vector<std::string> split_names(const std::string& list);

/// "; did you mean 'x'?", or nothing if no name is near.
std::string make_hint(const std::string& typed, const std::vector<std::string>& names);
