// Counts every heap allocation of a test program, Eigen's (malloc) and the library's (operator new) alike, by
// standing in front of glibc's malloc. Include in exactly one source file of a test program.
// Under AddressSanitizer, which owns malloc itself, nothing is counted and kCountsAllocations is false.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>

namespace slipstick::test {

#ifdef SLIPSTICK_SANITIZED
inline constexpr bool kCountsAllocations = false;
#else
inline constexpr bool kCountsAllocations = true;
#endif

inline std::atomic<long> allocation_count{0};

}  // namespace slipstick::test

#ifndef SLIPSTICK_SANITIZED
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t size) {
  slipstick::test::allocation_count.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  slipstick::test::allocation_count.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) {
  slipstick::test::allocation_count.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(memory, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  slipstick::test::allocation_count.fetch_add(1, std::memory_order_relaxed);
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  slipstick::test::allocation_count.fetch_add(1, std::memory_order_relaxed);
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
}
#endif
