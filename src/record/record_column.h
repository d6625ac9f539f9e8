// One growing dataset of a recording, and the values that wait for it.
#pragma once

#include "record/hdf5_file.h"

#include <span>
#include <string>
#include <vector>

namespace slipstick {

/// Rows of one chunk, so that a dataset of about so many rows has neither too many chunks nor a chunk that stays empty.
std::size_t calc_chunk_rows(std::size_t row_bytes, std::size_t expected_rows);

/// Values of one growing dataset waiting to be written.
template <class T>
class RecordColumn {
 public:
  void open(const std::string& path, const std::vector<std::size_t>& row_shape, std::size_t chunk_rows,
            Hdf5File* file) {
    dataset_ = file->add_growing(path, hdf5_type_of<T>(), row_shape, chunk_rows);
    row_size_ = 1;
    for (const std::size_t n : row_shape) row_size_ *= n;
  }
  void push(T value) { buffer_.push_back(value); }
  void push(std::span<const T> values) { buffer_.insert(buffer_.end(), values.begin(), values.end()); }
  std::size_t bytes() const { return buffer_.size() * sizeof(T); }
  /// Appends `rows` rows, all that wait. (A row of a scene without bodies has no values to count.)
  void write(std::size_t rows, Hdf5File* file) {
    file->append_rows(buffer_.data(), rows, &dataset_);
    buffer_.clear();
  }
  void write(Hdf5File* file) { write(buffer_.size() / row_size_, file); }
  const Hdf5GrowingDataset& dataset() const { return dataset_; }
  void close() { dataset_.id.reset(); }

 private:
  Hdf5GrowingDataset dataset_;
  std::size_t row_size_ = 1;
  std::vector<T> buffer_;
};

}  // namespace slipstick
