// A thin layer over the HDF5 C library for writing a file that grows row by row. Handles are released by themselves;
// the first failure is kept and everything after it does nothing, so that calls need no checking one by one.
#pragma once

#include <slipstick/result.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace slipstick {

class CommitFile;

/// An HDF5 handle (hid_t) of any kind.
class Hdf5Id {
 public:
  Hdf5Id() = default;
  explicit Hdf5Id(std::int64_t id) : id_(id) {}
  ~Hdf5Id() { reset(); }
  Hdf5Id(Hdf5Id&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Hdf5Id& operator=(Hdf5Id&& other) noexcept {
    if (this != &other) {
      reset();
      id_ = std::exchange(other.id_, -1);
    }
    return *this;
  }

  std::int64_t get() const { return id_; }
  bool valid() const { return id_ >= 0; }
  void reset();

 private:
  std::int64_t id_ = -1;
};

/// Text in UTF-8 of `size` bytes, at least one. Never of variable length: such texts lie in a heap of the file that the
/// library reads without checks, and a damaged one crashes it (docs/decisions/0044).
Hdf5Id make_text_type(std::size_t size);
/// The longest text that an attribute holds, bytes: HDF5's own limit is 64 KiB with everything around it.
inline constexpr std::size_t kMaxAttributeText = 60'000;

/// Keeps HDF5 from printing its error stack for as long as it lives; what the program had set comes back.
class Hdf5Silence {
 public:
  Hdf5Silence();
  ~Hdf5Silence();
  Hdf5Silence(const Hdf5Silence&) = delete;
  Hdf5Silence& operator=(const Hdf5Silence&) = delete;

 private:
  int (*function_)(std::int64_t, void*) = nullptr;
  void* data_ = nullptr;
};

/// The element types that are written.
enum class Hdf5Type : std::uint8_t { Float64, Int64, Int32, Int8 };
template <class T>
constexpr Hdf5Type hdf5_type_of();
template <>
constexpr Hdf5Type hdf5_type_of<double>() {
  return Hdf5Type::Float64;
}
template <>
constexpr Hdf5Type hdf5_type_of<std::int64_t>() {
  return Hdf5Type::Int64;
}
template <>
constexpr Hdf5Type hdf5_type_of<std::int32_t>() {
  return Hdf5Type::Int32;
}
template <>
constexpr Hdf5Type hdf5_type_of<std::int8_t>() {
  return Hdf5Type::Int8;
}

/// A dataset [rows, shape...] that grows in its first direction.
struct Hdf5GrowingDataset {
  Hdf5Id id;
  Hdf5Type type = Hdf5Type::Float64;
  std::vector<std::size_t> shape;  ///< of one row
  std::size_t rows = 0;
};

class Hdf5File {
 public:
  /// Creates a file that appears under `path` (replacing one that is there) when `publish` is called. A Fault with a
  /// remedy when that cannot be.
  static Result<std::unique_ptr<Hdf5File>> create(const std::string& path);
  ~Hdf5File();

  void add_group(const std::string& path);
  // Attributes. Texts are UTF-8, padded with zeros: bytes in Python.
  /// A text of the root that is too long for an attribute is the dataset of the same name, and the attribute says so.
  void add_attribute(const std::string& object, const std::string& name, const std::string& text);
  void add_attribute(const std::string& object, const std::string& name, const std::vector<std::string>& texts);
  void add_attribute(const std::string& object, const std::string& name, std::int64_t number);
  void add_attribute(const std::string& object, const std::string& name, double number);
  void add_attribute(const std::string& object, const std::string& name, std::span<const double> numbers);
  // Datasets that are known whole.
  /// Texts of one length, padded with zeros. `scalar`: the first alone.
  void add_texts(const std::string& path, const std::vector<std::string>& texts, bool scalar = false);
  template <class T>
  void add_table(const std::string& path, const std::vector<std::size_t>& shape, std::span<const T> values) {
    add_table(path, hdf5_type_of<T>(), shape, values.data());
  }
  // Datasets that grow.
  Hdf5GrowingDataset add_growing(const std::string& path, Hdf5Type type, const std::vector<std::size_t>& row_shape,
                                 std::size_t chunk_rows);
  void append_rows(const void* values, std::size_t rows, Hdf5GrowingDataset* dataset);
  /// On disk this dataset is never longer than another that was appended to before the same flush.
  void write_last(const Hdf5GrowingDataset& dataset);

  /// Puts all that was written so far where a reader finds it. False after a failure.
  bool flush();
  /// flush, and the file gets its name.
  bool publish();
  bool close();
  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }

  /// Called before each system call that changes the file (for tests).
  void set_before_change(std::function<void()> hook);

 private:
  Hdf5File() = default;
  void add_table(const std::string& path, Hdf5Type type, const std::vector<std::size_t>& shape, const void* values);
  void add_attribute(const std::string& object, const std::string& name, std::int64_t type, std::int64_t space,
                     const void* values);
  /// Notes a failure: the system's own reason if there is one.
  void fail(const std::string& doing);
  bool check(bool good, const std::string& doing);

  std::string path_;
  std::string temporary_;  ///< empty once published
  std::string error_;
  std::unique_ptr<CommitFile> store_;
  Hdf5Id driver_;
  Hdf5Id file_;
};

}  // namespace slipstick
