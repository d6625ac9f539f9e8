// Dense matrices whose columns begin at the same places of a cache line in every run. Eigen sums and updates a column
// in packets that begin where its address is a multiple of theirs: with memory from malloc, which promises 16 bytes,
// the same numbers had other last bits from one run to the next (docs/decisions/0018 has the same for VecX).
#pragma once

#include <slipstick/types.h>

#include <algorithm>
#include <utility>

template <>
class Eigen::DenseStorage<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::Dynamic, Eigen::DontAlign> {
 public:
  DenseStorage() = default;
  explicit DenseStorage(Eigen::internal::constructor_without_unaligned_array_assert) {}
  DenseStorage(Index size, Index rows, Index columns)
      : data_(slipstick::internal::allocate_vector(size)), rows_(rows), columns_(columns) {}
  DenseStorage(const DenseStorage& other) : DenseStorage(other.rows_ * other.columns_, other.rows_, other.columns_) {
    std::copy(other.data_, other.data_ + rows_ * columns_, data_);
  }
  DenseStorage(DenseStorage&& other) noexcept { swap(other); }
  DenseStorage& operator=(DenseStorage other) noexcept {
    swap(other);
    return *this;
  }
  ~DenseStorage() { slipstick::internal::free_vector(data_); }

  void swap(DenseStorage& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(rows_, other.rows_);
    std::swap(columns_, other.columns_);
  }
  void resize(Index size, Index rows, Index columns) {
    if (size != rows_ * columns_) {
      DenseStorage fresh(size, rows, columns);
      swap(fresh);
    }
    rows_ = rows;
    columns_ = columns;
  }
  /// Eigen calls this only where the entries stay at their places.
  void conservativeResize(Index size, Index rows, Index columns) {
    DenseStorage fresh(size, rows, columns);
    std::copy(data_, data_ + std::min(rows_ * columns_, size), fresh.data_);
    swap(fresh);
  }
  Index rows() const noexcept { return rows_; }
  Index cols() const noexcept { return columns_; }
  const double* data() const { return data_; }
  double* data() { return data_; }

 private:
  double* data_ = nullptr;
  Index rows_ = 0, columns_ = 0;
};

namespace slipstick {

using DenseX = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::DontAlign>;

}  // namespace slipstick
