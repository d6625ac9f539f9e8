// Room: base. The memory behind VecX. Eigen takes the memory of its vectors in one way in code for AVX and in another
// in plain code, and each way must give back its own: a vector that the library filled could not be freed by a program
// with other flags. VecX takes it in one way everywhere, and beginning at multiples of 64 bytes, so that sums are taken
// in one order (docs/decisions/0018).
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

namespace slipstick::internal {

inline constexpr std::size_t kVectorAlignment = 64;

/// Plain memory with room in front of the data, where the way back to it is kept: memory that is asked for by its
/// alignment never comes from what the C library keeps at hand, and costs four times as much.
inline double* allocate_vector(Eigen::Index size) {
  if (size == 0) return nullptr;
  std::byte* memory =
      static_cast<std::byte*>(::operator new(static_cast<std::size_t>(size) * sizeof(double) + kVectorAlignment));
  static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= sizeof(void*) && kVectorAlignment >= sizeof(void*));
  const std::size_t past = reinterpret_cast<std::uintptr_t>(memory) % kVectorAlignment;
  std::byte* data = memory + (kVectorAlignment - past);  // at least the alignment of `memory` behind it
  std::memcpy(data - sizeof(memory), &memory, sizeof(memory));
  return reinterpret_cast<double*>(data);
}

inline void free_vector(double* data) {
  if (data == nullptr) return;
  void* memory = nullptr;
  std::memcpy(&memory, reinterpret_cast<std::byte*>(data) - sizeof(memory), sizeof(memory));
  ::operator delete(memory);
}

}  // namespace slipstick::internal

/// What Eigen asks of the storage of a Matrix<double, Dynamic, 1, DontAlign>. DontAlign: Eigen assumes nothing about
/// where the data begin, and looks.
template <>
class Eigen::DenseStorage<double, Eigen::Dynamic, Eigen::Dynamic, 1, Eigen::DontAlign> {
 public:
  DenseStorage() = default;
  explicit DenseStorage(Eigen::internal::constructor_without_unaligned_array_assert) {}
  DenseStorage(Index size, Index, Index) : data_(slipstick::internal::allocate_vector(size)), rows_(size) {}
  DenseStorage(const DenseStorage& other) : DenseStorage(other.rows_, other.rows_, 1) {
    std::copy(other.data_, other.data_ + other.rows_, data_);
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
  }
  void resize(Index size, Index, Index) {
    if (size == rows_) return;
    DenseStorage fresh(size, size, 1);
    swap(fresh);
  }
  void conservativeResize(Index size, Index, Index) {
    DenseStorage fresh(size, size, 1);
    std::copy(data_, data_ + std::min(rows_, size), fresh.data_);
    swap(fresh);
  }
  Index rows() const noexcept { return rows_; }
  static constexpr Index cols() { return 1; }
  const double* data() const { return data_; }
  double* data() { return data_; }

 private:
  double* data_ = nullptr;
  Index rows_ = 0;
};
