#include "record/hdf5_reader.h"

#include <hdf5.h>

#include <filesystem>

namespace slipstick {

namespace {

Hdf5Id open_dataset(const Hdf5Id& file, const std::string& path) {
  return Hdf5Id(H5Dopen2(file.get(), path.c_str(), H5P_DEFAULT));
}

template <class T>
std::optional<std::vector<T>> read_all(const Hdf5Id& file, const std::string& path, hid_t memory_type) {
  const Hdf5Silence silence;
  const Hdf5Id dataset = open_dataset(file, path);
  if (!dataset.valid()) return std::nullopt;
  const Hdf5Id space(H5Dget_space(dataset.get()));
  const hssize_t count = H5Sget_simple_extent_npoints(space.get());
  if (count < 0) return std::nullopt;
  std::vector<T> values(static_cast<std::size_t>(count));
  if (count > 0 && H5Dread(dataset.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
    return std::nullopt;
  return values;
}

template <class T>
std::optional<std::vector<T>> read_rows(const Hdf5Id& file, const std::string& path, std::size_t first,
                                        std::size_t count, std::size_t stride, hid_t memory_type) {
  const Hdf5Silence silence;
  const Hdf5Id dataset = open_dataset(file, path);
  if (!dataset.valid()) return std::nullopt;
  const Hdf5Id space(H5Dget_space(dataset.get()));
  std::vector<hsize_t> dims(H5S_MAX_RANK);
  const int rank = H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr);
  if (rank < 1 || stride < 1) return std::nullopt;
  if (count > 0 && (first >= dims[0] || (dims[0] - 1 - first) / stride < count - 1)) return std::nullopt;
  std::size_t size = count;
  for (int i = 1; i < rank; ++i) size *= dims[i];
  std::vector<T> values(size);
  if (values.empty()) return values;
  std::vector<hsize_t> from(rank, 0), step(rank, 1), counts(dims.begin(), dims.begin() + rank);
  from[0] = first;
  step[0] = stride;
  counts[0] = count;
  const Hdf5Id memory(H5Screate_simple(rank, counts.data(), nullptr));
  if (H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, from.data(), step.data(), counts.data(), nullptr) < 0 ||
      H5Dread(dataset.get(), memory_type, memory.get(), space.get(), H5P_DEFAULT, values.data()) < 0)
    return std::nullopt;
  return values;
}

/// All values of an attribute, whatever its shape.
template <class T>
std::optional<std::vector<T>> read_attribute(const Hdf5Id& file, const std::string& object, const std::string& name,
                                             hid_t memory_type) {
  const Hdf5Silence silence;
  const Hdf5Id attribute(H5Aopen_by_name(file.get(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT));
  if (!attribute.valid()) return std::nullopt;
  const Hdf5Id space(H5Aget_space(attribute.get()));
  const hssize_t count = H5Sget_simple_extent_npoints(space.get());
  if (count < 0) return std::nullopt;
  std::vector<T> values(static_cast<std::size_t>(count));
  if (count > 0 && H5Aread(attribute.get(), memory_type, values.data()) < 0) return std::nullopt;
  return values;
}

std::vector<std::string> take_texts(const std::vector<char*>& pointers) {
  std::vector<std::string> texts;
  for (char* pointer : pointers) {
    texts.emplace_back(pointer ? pointer : "");
    H5free_memory(pointer);
  }
  return texts;
}

}  // namespace

Result<Hdf5Reader> Hdf5Reader::open(const std::string& path) {
  const Hdf5Silence silence;
  std::error_code code;
  if (!std::filesystem::exists(path, code)) return Fault{{path, 0, 0}, "no such file"};
  Hdf5Reader reader;
  reader.file_ = Hdf5Id(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  if (!reader.file_.valid()) return Fault{{path, 0, 0}, "is not an HDF5 file that can be read"};
  return reader;
}

bool Hdf5Reader::has(const std::string& path) const {
  const Hdf5Silence silence;
  return H5Oexists_by_name(file_.get(), path.c_str(), H5P_DEFAULT) > 0;
}

std::optional<std::vector<std::size_t>> Hdf5Reader::shape(const std::string& path) const {
  const Hdf5Silence silence;
  const Hdf5Id dataset = open_dataset(file_, path);
  if (!dataset.valid()) return std::nullopt;
  const Hdf5Id space(H5Dget_space(dataset.get()));
  std::vector<hsize_t> dims(H5S_MAX_RANK);
  const int rank = H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr);
  if (rank < 0) return std::nullopt;
  return std::vector<std::size_t>(dims.begin(), dims.begin() + rank);
}

std::optional<std::vector<double>> Hdf5Reader::read_numbers(const std::string& path) const {
  return read_all<double>(file_, path, H5T_NATIVE_DOUBLE);
}

std::optional<std::vector<std::int64_t>> Hdf5Reader::read_integers(const std::string& path) const {
  return read_all<std::int64_t>(file_, path, H5T_NATIVE_INT64);
}

std::optional<std::vector<double>> Hdf5Reader::read_number_rows(const std::string& path, std::size_t first,
                                                                std::size_t count, std::size_t stride) const {
  return read_rows<double>(file_, path, first, count, stride, H5T_NATIVE_DOUBLE);
}

std::optional<std::vector<std::int64_t>> Hdf5Reader::read_integer_rows(const std::string& path, std::size_t first,
                                                                       std::size_t count, std::size_t stride) const {
  return read_rows<std::int64_t>(file_, path, first, count, stride, H5T_NATIVE_INT64);
}

std::optional<std::vector<std::string>> Hdf5Reader::read_texts(const std::string& path) const {
  const Hdf5Id type = make_text_type();
  const auto pointers = read_all<char*>(file_, path, type.get());
  if (!pointers) return std::nullopt;
  return take_texts(*pointers);
}

std::optional<std::vector<std::string>> Hdf5Reader::read_fixed_texts(const std::string& path) const {
  const Hdf5Silence silence;
  const Hdf5Id dataset = open_dataset(file_, path);
  if (!dataset.valid()) return std::nullopt;
  const Hdf5Id stored(H5Dget_type(dataset.get())), space(H5Dget_space(dataset.get()));
  if (H5Tget_class(stored.get()) != H5T_STRING || H5Tis_variable_str(stored.get()) != 0) return std::nullopt;
  const std::size_t width = H5Tget_size(stored.get());
  const hssize_t count = H5Sget_simple_extent_npoints(space.get());
  if (width == 0 || count < 0 || H5Dget_storage_size(dataset.get()) / width < static_cast<hsize_t>(count))
    return std::nullopt;
  const Hdf5Id type = make_text_type(width);
  std::string cells(width * static_cast<std::size_t>(count), '\0');
  if (count > 0 && H5Dread(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, cells.data()) < 0)
    return std::nullopt;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < cells.size(); i += width) texts.emplace_back(cells.substr(i, width).c_str());
  return texts;
}

std::optional<std::string> Hdf5Reader::read_byte_rows(const std::string& path, std::size_t first,
                                                      std::size_t count) const {
  const auto rows = read_rows<char>(file_, path, first, count, 1, H5T_NATIVE_INT8);
  if (!rows) return std::nullopt;
  return std::string(rows->begin(), rows->end());
}

std::optional<std::string> Hdf5Reader::read_text_attribute(const std::string& object, const std::string& name) const {
  auto texts = read_texts_attribute(object, name);
  if (!texts || texts->size() != 1) return std::nullopt;
  return std::move(texts->front());
}

std::optional<std::vector<std::string>> Hdf5Reader::read_texts_attribute(const std::string& object,
                                                                         const std::string& name) const {
  const Hdf5Id type = make_text_type();
  const auto pointers = read_attribute<char*>(file_, object, name, type.get());
  if (!pointers) return std::nullopt;
  return take_texts(*pointers);
}

std::optional<std::vector<double>> Hdf5Reader::read_numbers_attribute(const std::string& object,
                                                                      const std::string& name) const {
  return read_attribute<double>(file_, object, name, H5T_NATIVE_DOUBLE);
}

}  // namespace slipstick
