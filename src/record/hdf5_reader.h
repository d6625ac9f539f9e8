// Reads HDF5 files of any origin: whole datasets and attributes, converted to the type that is asked for. The file may
// be damaged or made by an enemy: nothing is read that claims to be larger than the file that holds it, that lies in
// other files, or that needs the heap of texts of variable length (docs/decisions/0044).
#pragma once

#include "record/hdf5_file.h"

#include <slipstick/result.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace slipstick {

class Hdf5Reader {
 public:
  /// A Fault when there is no such file or it is not HDF5.
  static Result<Hdf5Reader> open(const std::string& path);

  bool has(const std::string& path) const;
  /// Length in each direction, or nothing if there is no such dataset.
  std::optional<std::vector<std::size_t>> shape(const std::string& path) const;
  // All values, row-major; nothing if there is no such dataset or it cannot be read.
  std::optional<std::vector<double>> read_numbers(const std::string& path) const;
  std::optional<std::vector<std::int64_t>> read_integers(const std::string& path) const;
  /// Of texts of one length; nothing if their length varies.
  std::optional<std::vector<std::string>> read_texts(const std::string& path) const;
  /// Rows of bytes (any integers of one byte).
  std::optional<std::string> read_byte_rows(const std::string& path, std::size_t first, std::size_t count) const;
  // Rows first, first + stride, ...: `count` of them, of a dataset [rows, ...]; nothing if it is shorter.
  std::optional<std::vector<double>> read_number_rows(const std::string& path, std::size_t first, std::size_t count,
                                                      std::size_t stride = 1) const;
  std::optional<std::vector<std::int64_t>> read_integer_rows(const std::string& path, std::size_t first,
                                                             std::size_t count, std::size_t stride = 1) const;
  /// As `add_attribute` writes it: a long one of the root comes from the dataset of that name.
  std::optional<std::string> read_text_attribute(const std::string& object, const std::string& name) const;
  /// True if there is such an attribute and it is a text of variable length, as earlier versions wrote them.
  bool has_variable_text(const std::string& object, const std::string& name) const;
  std::optional<std::vector<std::string>> read_texts_attribute(const std::string& object,
                                                               const std::string& name) const;
  std::optional<std::vector<double>> read_numbers_attribute(const std::string& object, const std::string& name) const;

 private:
  Hdf5Id file_;
  std::size_t most_bytes_ = 0;  ///< that anything in the file can have
};

}  // namespace slipstick
