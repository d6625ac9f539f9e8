// One factory a scheme; step/schemes.cpp is the table of them.
#pragma once

#include <memory>

#include "step/scheme.h"

namespace slipstick {

std::unique_ptr<Scheme> make_stabilized();
std::unique_ptr<Scheme> make_euler();
std::unique_ptr<Scheme> make_trapezoid();
std::unique_ptr<Scheme> make_alpha_gamma();
std::unique_ptr<Scheme> make_spook();

}  // namespace slipstick
