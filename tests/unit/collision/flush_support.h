// Boxes that lie flush on each other, given as box, hull or mesh, and what their contacts must be: found from the two
// rectangles that touch, without the contact finder.
#pragma once

#include <string>

#include "unit/collision/collision_support.h"

namespace slipstick::test {

/// A box of triangles; each face is a grid of `cells` x `cells` squares, its inner lines moved by `random` if given.
std::shared_ptr<const Surface> make_box_mesh(const Vec3& half, int cells = 1, Random* random = nullptr);

enum class Form { Box, Hull, Mesh, Fine, Uneven };  ///< Fine: faces of 3 x 3 squares; Uneven: random ones
inline constexpr std::array<Form, 5> kForms{Form::Box, Form::Hull, Form::Mesh, Form::Fine, Form::Uneven};
const char* name_of(Form form);
Solid make_form(Form form, const Vec3& half, Random* random);

/// B lies with a face on A's upper face.
struct FlushPlacement {
  Vec3 half_a, half_b;
  Pose a, b;                  ///< in the world
  double gap = 0, size = 0;   ///< size: the larger half size of the smaller box
  std::vector<Vec3> outline;  ///< of what the two faces have in common, in the world, on A's face
  std::vector<Vec3> corners;  ///< of these points those that are not in line with their neighbours
  Vec3 up;                    ///< A's normal
};

/// Sides in line, corners on edges, edges on edges, turned at random; moved by `offset` times the size, up and aside.
FlushPlacement make_flush_placement(double offset, Random* random);

/// What is wrong with the contacts of the placement; empty if nothing is.
std::string find_flush_fault(const FlushPlacement& placement, const std::vector<Contact>& contacts);

/// B moved by a random displacement and turn of this size.
FlushPlacement make_moved(const FlushPlacement& placement, double by, Random* random);

}  // namespace slipstick::test
