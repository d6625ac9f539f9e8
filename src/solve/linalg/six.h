// Six numbers, the velocities of a body or a row of its Jacobian, as four and two in vector registers: kernels on
// blocks of six rows spelled out, since compilers vectorize such short loops badly or across the wrong index. The order
// of every sum is fixed here, whatever the compiler.
#pragma once

namespace slipstick {

struct Six {
  static constexpr int kRows = 6;
  using Four = double __attribute__((vector_size(4 * sizeof(double))));
  using Two = double __attribute__((vector_size(2 * sizeof(double))));
  // In memory they begin anywhere.
  using LooseFour = double __attribute__((vector_size(4 * sizeof(double)), aligned(sizeof(double)), may_alias));
  using LooseTwo = double __attribute__((vector_size(2 * sizeof(double)), aligned(sizeof(double)), may_alias));

  Four head = {};
  Two tail = {};

  static Six load(const double* from) {
    return {*reinterpret_cast<const LooseFour*>(from), *reinterpret_cast<const LooseTwo*>(from + 4)};
  }
  void store(double* to) const {
    *reinterpret_cast<LooseFour*>(to) = head;
    *reinterpret_cast<LooseTwo*>(to + 4) = tail;
  }
  void add(const Six& other, double weight) {
    head += other.head * weight;
    tail += other.tail * weight;
  }
  void subtract(const Six& other, double weight) {
    head -= other.head * weight;
    tail -= other.tail * weight;
  }
  void scale(double weight) {
    head *= weight;
    tail *= weight;
  }
};

/// Three numbers in the same way; nothing is read or written behind them.
struct Three {
  static constexpr int kRows = 3;
  Six::Four all = {};

  static Three load(const double* from) {
    const Six::Four all = {from[0], from[1], from[2], 0};
    return {all};
  }
  void store(double* to) const {
    *reinterpret_cast<Six::LooseTwo*>(to) = __builtin_shufflevector(all, all, 0, 1);
    to[2] = all[2];
  }
  void subtract(const Three& other, double weight) { all -= other.all * weight; }
  void scale(double weight) { all *= weight; }
};

/// And one.
struct One {
  static constexpr int kRows = 1;
  double all = 0;

  static One load(const double* from) { return {*from}; }
  void store(double* to) const { *to = all; }
  void subtract(const One& other, double weight) { all -= other.all * weight; }
  void scale(double weight) { all *= weight; }
};

/// The products' sums 0 + 2 + 4 and 1 + 3 + 5.
inline Six::Two half_dot(const Six& a, const Six& b) {
  const Six::Four product = a.head * b.head;
  return __builtin_shufflevector(product, product, 0, 1) + __builtin_shufflevector(product, product, 2, 3) +
         a.tail * b.tail;
}

inline double dot(const Six& a, const Six& b) {
  const Six::Two sums = half_dot(a, b);
  return sums[0] + sums[1];
}

}  // namespace slipstick
