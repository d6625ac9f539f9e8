// What a user should know about pairs of materials, and about options that a scheme does not use.
#pragma once

#include <slipstick/simulation.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace slipstick {

/// Each pair of materials whose shapes may meet, with its name for messages.
void for_each_pair(const Model& model, const std::function<void(const std::string& name, const PairLaw& law)>& visit);

/// Rolling and spinning friction without friction: their moments are bounded in one cone with it, and without it they
/// are none.
std::vector<std::string> find_void_friction(const Model& model);

/// `stabilization` given for a scheme that does not read it; `instead` says what does the like there.
std::vector<std::string> find_unused_stabilization(std::string_view scheme, std::string_view instead,
                                                   const SimulationOptions& options);

}  // namespace slipstick
