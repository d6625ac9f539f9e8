// Room: base. Whether the force of a contact is the only one that solves its step.
#pragma once

#include <cstdint>

namespace slipstick {

/// What is known of the impulses of a row block: docs/certificate.md, "Unique forces".
enum class Uniqueness : std::uint8_t {
  Unknown,   ///< nobody has looked
  Unique,    ///< no other impulses solve the problem
  Chosen,    ///< others do; these are what equal springs of vanishing compliance at all contacts give
  Arbitrary  ///< others do, and these are those that a solver came upon
};

}  // namespace slipstick
