// "Did you mean ...?": the known name nearest to a mistyped one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipstick {

/// The known name with the fewest edits (insert, delete, replace, swap neighbours; letter case is free) from `wanted`,
/// the first such one on a tie; nothing if even that one differs in more than a third of its letters.
std::optional<std::string> closest_name(std::string_view wanted, const std::vector<std::string>& known);

}  // namespace slipstick
