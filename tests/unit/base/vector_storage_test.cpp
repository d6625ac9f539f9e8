#include <gtest/gtest.h>
#include <slipstick/types.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace slipstick {
namespace {

bool is_aligned(const VecX& v) { return reinterpret_cast<std::uintptr_t>(v.data()) % 64 == 0; }

TEST(VectorStorage, BeginsAtMultiplesOf64BytesWhateverItsSize) {
  std::vector<VecX> all;
  for (int size = 1; size <= 300; ++size) {
    all.push_back(VecX::Constant(size, size));
    ASSERT_TRUE(is_aligned(all.back())) << size;
  }
  for (int size = 1; size <= 300; ++size) {
    VecX& v = all[static_cast<std::size_t>(size) - 1];
    ASSERT_EQ(v, VecX(VecX::Constant(size, size)));  // nobody wrote into another one's memory
    v.resize(301 - size);
    ASSERT_TRUE(is_aligned(v)) << size;
  }
}

TEST(VectorStorage, IsCopiedMovedAndEmptied) {
  VecX a = VecX::LinSpaced(7, 0, 6), b = a;
  EXPECT_NE(a.data(), b.data());
  const double* data = a.data();
  VecX c = std::move(a);
  EXPECT_EQ(c.data(), data);
  c.conservativeResize(3);
  EXPECT_EQ(c, VecX(b.head(3)));
  b.resize(0);
  EXPECT_EQ(b.size(), 0);
}

}  // namespace
}  // namespace slipstick
