// Anderson's mixing of a fixed-point map g: the next point is an affine combination of the last images whose residuals
// g(y) - y combine to the least norm. [WalkerNi11], with the safeguard of [ZhangODonoghueBoyd20]: a step is accepted
// only while the residual stays below a slowly falling multiple of the first, else the plain image is taken and the
// memory forgotten.
#pragma once

#include <vector>

#include "solve/linalg/dense_matrix.h"

namespace slipstick {

class Anderson {
 public:
  void resize(int size, int memory);
  void clear() { count_ = 0, has_last_ = was_mixed_ = false; }
  /// y and its image g(y); replaces the image by the mixed point and returns true, or leaves it and returns false.
  bool mix(const VecX& y, VecX* image);

 private:
  void push(const VecX& y, const VecX& image);

  int size_ = 0, memory_ = 0, count_ = 0, next_ = 0;
  bool has_last_ = false, was_mixed_ = false;
  double least_ = 0;  ///< smallest residual norm since the last clear
  VecX residual_, last_image_, last_residual_;
  DenseX images_, residuals_, gram_, work_;  ///< differences, a column each; gram_ = residuals^T residuals
  VecX right_, weight_;
};

}  // namespace slipstick
