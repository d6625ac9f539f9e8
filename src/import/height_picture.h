// Heights from the files that MJCF names: PNG pictures, and MuJoCo's own binary format. Nothing here trusts the bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slipstick {

struct GreyPicture {
  int rows = 0, columns = 0;
  std::vector<double> values;  ///< row by row; the first row has the greatest y
  std::string problem;
};

/// 8 bits of the grey, or of the red, channel (of 16 the upper ones), as MuJoCo takes them. Interlaced pictures are
/// refused.
GreyPicture parse_png(std::string_view bytes);

/// Two 32-bit numbers, rows and columns, then a 32-bit float for each height, the first row with the least y.
GreyPicture parse_mujoco_heights(std::string_view bytes);

}  // namespace slipstick
