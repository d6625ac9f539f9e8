// From data to places on an axis, and where the ticks go.
#pragma once

#include <slipstick/app/plot.h>

#include <string>
#include <vector>

namespace slipstick {

struct PlotTick {
  double place = 0;   ///< 0 at the low end, 1 at the high end
  std::string label;  ///< empty: a minor tick
};

class PlotScale {
 public:
  /// Covers the finite values (the positive ones on a logarithmic axis) unless the axis says otherwise.
  PlotScale(const PlotAxis& axis, const std::vector<const std::vector<double>*>& values);
  double low() const { return low_; }
  double high() const { return high_; }
  /// 0 at the low end, 1 at the high end; outside of [0, 1] if the value is.
  double place(double value) const;
  bool shows(double value) const;
  std::vector<PlotTick> ticks() const;

 private:
  std::vector<PlotTick> linear_ticks() const;
  std::vector<PlotTick> log_ticks() const;

  bool log_ = false;
  double low_ = 0, high_ = 1;
};

}  // namespace slipstick
