// Why an element or attribute of a model has no place in the scene.
#pragma once

#include <string>

namespace slipstick {

std::string explain_urdf(const std::string& element, const std::string& attribute);
std::string explain_mjcf(const std::string& element, const std::string& attribute);

}  // namespace slipstick
