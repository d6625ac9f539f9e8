#include "record/hdf5_reader.h"

#include <slipstick/app/hdf5_exit.h>

#include <hdf5.h>

#include <algorithm>
#include <filesystem>

namespace slipstick {

namespace {

constexpr std::size_t kLeastBytes =
    1u << 20;  ///< what may be asked of any file: datasets that were never written are zeros
constexpr std::size_t kMostPacked = 512u << 20;  ///< bytes of a compressed dataset, and
constexpr std::size_t kMostChunk = 64u << 20;    ///< of one piece of it: their size in the file says nothing

/// a * b, or the largest number there is.
std::size_t multiply(std::size_t a, std::size_t b) {
  std::size_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

/// How many elements a dataset or an attribute has, if so many can be in a file whose parts have at most `most` bytes.
std::optional<std::size_t> find_count(const Hdf5Id& type, const Hdf5Id& space, std::size_t most) {
  const hssize_t count = H5Sget_simple_extent_npoints(space.get());
  if (count < 0 || multiply(static_cast<std::size_t>(count), H5Tget_size(type.get())) > most) return std::nullopt;
  return static_cast<std::size_t>(count);
}

bool is_number(const Hdf5Id& type) {
  const H5T_class_t kind = H5Tget_class(type.get());
  return kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_ENUM;
}

/// Texts of one length, and that length is not zero.
bool is_text(const Hdf5Id& type) {
  return H5Tget_class(type.get()) == H5T_STRING && H5Tis_variable_str(type.get()) == 0 && H5Tget_size(type.get()) > 0;
}

/// A dataset whose claims about its size have been looked at.
struct OpenDataset {
  OpenDataset(const Hdf5Id& file, const std::string& path, std::size_t most)
      : id(H5Dopen2(file.get(), path.c_str(), H5P_DEFAULT)) {
    if (!id.valid()) return;
    type = Hdf5Id(H5Dget_type(id.get()));
    space = Hdf5Id(H5Dget_space(id.get()));
    const Hdf5Id list(H5Dget_create_plist(id.get()));
    if (!type.valid() || !space.valid() || !list.valid() || H5Pget_external_count(list.get()) != 0) return;
    const H5D_layout_t layout = H5Pget_layout(list.get());
    const bool packed = H5Pget_nfilters(list.get()) != 0;
    std::size_t chunk = H5Tget_size(type.get());
    hsize_t sides[H5S_MAX_RANK] = {};
    const int rank = layout == H5D_CHUNKED ? H5Pget_chunk(list.get(), H5S_MAX_RANK, sides) : 0;
    for (int i = 0; i < rank; ++i) chunk = multiply(chunk, sides[i]);
    if (layout == H5D_VIRTUAL || layout < 0 || rank < 0 || chunk > (packed ? kMostChunk : most)) return;
    if (const auto found = find_count(type, space, packed ? kMostPacked : most)) {
      count = *found;
      good = true;
    }
  }
  Hdf5Id id, type, space;
  std::size_t count = 0;
  bool good = false;
};

template <class T>
std::optional<std::vector<T>> read_all(const OpenDataset& dataset, hid_t memory_type) {
  if (!dataset.good || !is_number(dataset.type)) return std::nullopt;
  std::vector<T> values(dataset.count);
  if (!values.empty() && H5Dread(dataset.id.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
    return std::nullopt;
  return values;
}

template <class T>
std::optional<std::vector<T>> read_rows(const OpenDataset& dataset, std::size_t first, std::size_t count,
                                        std::size_t stride, hid_t memory_type) {
  if (!dataset.good || !is_number(dataset.type)) return std::nullopt;
  std::vector<hsize_t> dims(H5S_MAX_RANK);
  const int rank = H5Sget_simple_extent_dims(dataset.space.get(), dims.data(), nullptr);
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
  if (H5Sselect_hyperslab(dataset.space.get(), H5S_SELECT_SET, from.data(), step.data(), counts.data(), nullptr) < 0 ||
      H5Dread(dataset.id.get(), memory_type, memory.get(), dataset.space.get(), H5P_DEFAULT, values.data()) < 0)
    return std::nullopt;
  return values;
}

/// An attribute of any shape whose size can be.
struct OpenAttribute {
  OpenAttribute(const Hdf5Id& file, const std::string& object, const std::string& name, std::size_t most)
      : id(H5Aopen_by_name(file.get(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT)) {
    if (!id.valid()) return;
    type = Hdf5Id(H5Aget_type(id.get()));
    space = Hdf5Id(H5Aget_space(id.get()));
    if (!type.valid() || !space.valid()) return;
    if (const auto found = find_count(type, space, most)) {
      count = *found;
      good = true;
    }
  }
  Hdf5Id id, type, space;
  std::size_t count = 0;
  bool good = false;
};

/// Texts of one width that `read` puts into memory; nothing if it cannot.
template <class Opened, class Read>
std::optional<std::vector<std::string>> take_texts(const Opened& from, const Read& read) {
  if (!from.good || !is_text(from.type)) return std::nullopt;
  const std::size_t width = H5Tget_size(from.type.get());
  const Hdf5Id type = make_text_type(width);
  std::string cells(width * from.count, '\0');
  if (from.count > 0 && read(type.get(), cells.data()) < 0) return std::nullopt;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < cells.size(); i += width) texts.emplace_back(cells.substr(i, width).c_str());
  return texts;
}

}  // namespace

void end_without_hdf5() { H5dont_atexit(); }

Result<Hdf5Reader> Hdf5Reader::open(const std::string& path) {
  const Hdf5Silence silence;
  std::error_code code;
  if (!std::filesystem::exists(path, code)) return Fault{{path, 0, 0}, "no such file"};
  Hdf5Reader reader;
  reader.file_ = Hdf5Id(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  if (!reader.file_.valid()) return Fault{{path, 0, 0}, "is not an HDF5 file that can be read"};
  hsize_t bytes = 0;
  if (H5Fget_filesize(reader.file_.get(), &bytes) < 0) bytes = 0;
  reader.most_bytes_ = std::max<std::size_t>(bytes, kLeastBytes);
  return reader;
}

bool Hdf5Reader::has(const std::string& path) const {
  const Hdf5Silence silence;
  return H5Oexists_by_name(file_.get(), path.c_str(), H5P_DEFAULT) > 0;
}

std::optional<std::vector<std::size_t>> Hdf5Reader::shape(const std::string& path) const {
  const Hdf5Silence silence;
  const OpenDataset dataset(file_, path, most_bytes_);
  if (!dataset.good) return std::nullopt;
  std::vector<hsize_t> dims(H5S_MAX_RANK);
  const int rank = H5Sget_simple_extent_dims(dataset.space.get(), dims.data(), nullptr);
  if (rank < 0) return std::nullopt;
  return std::vector<std::size_t>(dims.begin(), dims.begin() + rank);
}

std::optional<std::vector<double>> Hdf5Reader::read_numbers(const std::string& path) const {
  const Hdf5Silence silence;
  return read_all<double>({file_, path, most_bytes_}, H5T_NATIVE_DOUBLE);
}

std::optional<std::vector<std::int64_t>> Hdf5Reader::read_integers(const std::string& path) const {
  const Hdf5Silence silence;
  return read_all<std::int64_t>({file_, path, most_bytes_}, H5T_NATIVE_INT64);
}

std::optional<std::vector<double>> Hdf5Reader::read_number_rows(const std::string& path, std::size_t first,
                                                                std::size_t count, std::size_t stride) const {
  const Hdf5Silence silence;
  return read_rows<double>({file_, path, most_bytes_}, first, count, stride, H5T_NATIVE_DOUBLE);
}

std::optional<std::vector<std::int64_t>> Hdf5Reader::read_integer_rows(const std::string& path, std::size_t first,
                                                                       std::size_t count, std::size_t stride) const {
  const Hdf5Silence silence;
  return read_rows<std::int64_t>({file_, path, most_bytes_}, first, count, stride, H5T_NATIVE_INT64);
}

std::optional<std::vector<std::string>> Hdf5Reader::read_texts(const std::string& path) const {
  const Hdf5Silence silence;
  const OpenDataset dataset(file_, path, most_bytes_);
  return take_texts(dataset, [&](hid_t type, void* cells) {
    return H5Dread(dataset.id.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, cells);
  });
}

std::optional<std::string> Hdf5Reader::read_byte_rows(const std::string& path, std::size_t first,
                                                      std::size_t count) const {
  const Hdf5Silence silence;
  const auto rows = read_rows<char>({file_, path, most_bytes_}, first, count, 1, H5T_NATIVE_INT8);
  if (!rows) return std::nullopt;
  return std::string(rows->begin(), rows->end());
}

std::optional<std::string> Hdf5Reader::read_text_attribute(const std::string& object, const std::string& name) const {
  auto texts = read_texts_attribute(object, name);
  if (!texts || texts->size() != 1) return std::nullopt;
  if (texts->front() == "dataset /" + name) texts = read_texts("/" + name);
  if (!texts || texts->size() != 1) return std::nullopt;
  return std::move(texts->front());
}

bool Hdf5Reader::has_variable_text(const std::string& object, const std::string& name) const {
  const Hdf5Silence silence;
  const OpenAttribute attribute(file_, object, name, most_bytes_);
  return attribute.type.valid() && H5Tis_variable_str(attribute.type.get()) > 0;
}

std::optional<std::vector<std::string>> Hdf5Reader::read_texts_attribute(const std::string& object,
                                                                         const std::string& name) const {
  const Hdf5Silence silence;
  const OpenAttribute attribute(file_, object, name, most_bytes_);
  return take_texts(attribute, [&](hid_t type, void* cells) { return H5Aread(attribute.id.get(), type, cells); });
}

std::optional<std::vector<double>> Hdf5Reader::read_numbers_attribute(const std::string& object,
                                                                      const std::string& name) const {
  const Hdf5Silence silence;
  const OpenAttribute attribute(file_, object, name, most_bytes_);
  if (!attribute.good || !is_number(attribute.type)) return std::nullopt;
  std::vector<double> values(attribute.count);
  if (!values.empty() && H5Aread(attribute.id.get(), H5T_NATIVE_DOUBLE, values.data()) < 0) return std::nullopt;
  return values;
}

}  // namespace slipstick
