#include "report/plot_scale.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace slipstick {

namespace {

constexpr int kTicks = 6;  // about

std::string number_text(double value, double step) {
  const int digits = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 12);
  char text[64];
  const bool plain = std::abs(value) < 1e5 && step >= 1e-4;
  std::snprintf(text, sizeof text, plain ? "%.*f" : "%.*g", plain ? digits : 4,
                std::abs(value) < step / 1e6 ? 0 : value);
  return text;
}

/// "10" with the exponent in raised digits (UTF-8).
std::string power_text(int exponent) {
  static const char* const kRaised[] = {"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                                        "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
  if (exponent == 0) return "1";
  if (exponent == 1) return "10";
  std::string text = exponent < 0 ? "10\u207b" : "10";
  for (const char digit : std::to_string(std::abs(exponent))) text += kRaised[digit - '0'];
  return text;
}

}  // namespace

PlotScale::PlotScale(const PlotAxis& axis, const std::vector<const std::vector<double>*>& values) : log_(axis.log) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const std::vector<double>* list : values)
    for (const double value : *list) {
      if (!shows(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  if (!(low <= high)) low = log_ ? 1 : 0, high = log_ ? 10 : 1;
  const double margin = log_ ? 0 : 0.04 * (high - low);
  low_ = axis.low.value_or(low - margin);
  high_ = axis.high.value_or(high + margin);
  if (log_ && !axis.low) low_ = std::pow(10.0, std::floor(std::log10(low_) + 1e-9));
  if (log_ && !axis.high) high_ = std::pow(10.0, std::ceil(std::log10(high_) - 1e-9));
  if (low_ >= high_) {  // one value only
    low_ = log_ ? low_ / 10 : low_ - 0.5;
    high_ = log_ ? high_ * 10 : high_ + 0.5;
  }
}

bool PlotScale::shows(double value) const { return std::isfinite(value) && (!log_ || value > 0); }

double PlotScale::place(double value) const {
  if (!log_) return (value - low_) / (high_ - low_);
  return std::log(value / low_) / std::log(high_ / low_);
}

std::vector<PlotTick> PlotScale::ticks() const { return log_ ? log_ticks() : linear_ticks(); }

std::vector<PlotTick> PlotScale::linear_ticks() const {
  const double rough = (high_ - low_) / kTicks, power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double nice : {5.0, 2.5, 2.0, 1.0})
    if (nice * power >= rough) step = nice * power;
  std::vector<PlotTick> ticks;
  const double first = std::ceil(low_ / step - 1e-9);
  for (double k = first; k * step <= high_ + 1e-9 * step; ++k)
    ticks.push_back({place(k * step), number_text(k * step, step == 2.5 * power ? step / 5 : step)});
  return ticks;
}

std::vector<PlotTick> PlotScale::log_ticks() const {
  const int first = static_cast<int>(std::floor(std::log10(low_) + 1e-9));
  const int last = static_cast<int>(std::ceil(std::log10(high_) - 1e-9));
  const int every = std::max(1, (last - first + kTicks) / (kTicks + 1));
  std::vector<PlotTick> ticks;
  for (int e = first; e <= last; ++e) {
    const double decade = std::pow(10.0, e);
    for (int k = 1; k < 10; ++k) {
      if (k > 1 && every > 1) break;
      const double p = place(k * decade);
      if (p < -1e-9 || p > 1 + 1e-9) continue;
      const bool named = k == 1 && (e - first) % every == 0;
      ticks.push_back({p, named ? power_text(e) : std::string()});
      // An axis of less than two decades also names 2 and 5.
      if (last - first <= 1 && (k == 2 || k == 5)) ticks.back().label = number_text(k * decade, decade);
    }
  }
  return ticks;
}

}  // namespace slipstick
