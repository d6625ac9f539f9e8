// "Did you mean ...?" for what is typed on the command line.
#pragma once

#include <string>
#include <vector>

/// "; did you mean 'x'?", or nothing if no name is near.
std::string make_hint(const std::string& typed, const std::vector<std::string>& names);
