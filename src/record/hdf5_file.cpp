#include "record/hdf5_file.h"

#include "record/commit_file.h"

#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace slipstick {

static_assert(sizeof(hid_t) == sizeof(std::int64_t) && sizeof(herr_t) == sizeof(int));

void Hdf5Id::reset() {
  if (id_ >= 0 && H5Iis_valid(id_) > 0) H5Idec_ref(id_);  // closing a file takes its datasets along
  id_ = -1;
}

Hdf5Id make_text_type(std::size_t size) {
  Hdf5Id type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.get(), std::max<std::size_t>(size, 1));
  H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

Hdf5Silence::Hdf5Silence() {
  H5Eget_auto2(H5E_DEFAULT, reinterpret_cast<H5E_auto2_t*>(&function_), &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5Silence::~Hdf5Silence() { H5Eset_auto2(H5E_DEFAULT, reinterpret_cast<H5E_auto2_t>(function_), data_); }

namespace {

namespace fs = std::filesystem;

struct TypePair {
  hid_t file, memory;
};

TypePair types_of(Hdf5Type type) {
  switch (type) {
    case Hdf5Type::Int64:
      return {H5T_STD_I64LE, H5T_NATIVE_INT64};
    case Hdf5Type::Int32:
      return {H5T_STD_I32LE, H5T_NATIVE_INT32};
    case Hdf5Type::Int8:
      return {H5T_STD_I8LE, H5T_NATIVE_INT8};
    case Hdf5Type::Float64:
      break;
  }
  return {H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE};
}

/// Texts of one width in a row, padded with zeros.
struct TextCells {
  explicit TextCells(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) width = std::max(width, text.size());
    for (const std::string& text : texts) cells += text + std::string(width - text.size(), '\0');
  }
  std::size_t width = 1;
  std::string cells;
};

/// Why a file cannot be made at `path`, with what to do about it.
std::string find_creation_fault(const fs::path& path, int error_number) {
  std::error_code code;
  const fs::path folder = path.parent_path().empty() ? fs::path(".") : path.parent_path();
  if (fs::is_directory(path, code)) return "is a folder; give the name of a file in it";
  if (!fs::exists(folder, code)) return "the folder '" + folder.string() + "' does not exist; create it first";
  if (!fs::is_directory(folder, code)) return "'" + folder.string() + "' is not a folder";
  if (error_number == EACCES || error_number == EPERM || error_number == EROFS)
    return "no permission to write in '" + folder.string() + "'; choose another place";
  if (error_number == ENOSPC) return "no space left on the device; free some or choose another place";
  return std::string("cannot be created: ") + std::strerror(error_number);
}

/// Compact storage of links and attributes whatever their number: fewer kinds of metadata, all static.
Hdf5Id make_creation_list(hid_t kind) {
  Hdf5Id list(H5Pcreate(kind));
  H5Pset_link_phase_change(list.get(), 64, 32);
  H5Pset_attr_phase_change(list.get(), 64, 32);
  H5Pset_obj_track_times(list.get(), false);
  return list;
}

}  // namespace

Result<std::unique_ptr<Hdf5File>> Hdf5File::create(const std::string& path) {
  const Hdf5Silence silence;
  std::unique_ptr<Hdf5File> file(new Hdf5File);
  std::error_code code;
  // A link to a file stays a link; anything that is neither a file nor absent cannot hold a recording.
  const fs::path target = fs::is_symlink(path, code) ? fs::weakly_canonical(path, code) : fs::path(path);
  file->path_ = target.string();
  if (fs::exists(target, code) && !fs::is_regular_file(target, code))
    return Fault{{path, 0, 0}, fs::is_directory(target, code) ? find_creation_fault(target, EISDIR) : "is not a file"};
  if (CommitFile::is_written(file->path_))
    return Fault{{path, 0, 0}, "is being written by another run; name another file, or wait for its end"};
  file->temporary_ = file->path_ + ".partial." + std::to_string(::getpid());
  file->store_ = std::make_unique<CommitFile>();
  if (!file->store_->create(file->temporary_)) {
    const int number = errno;
    file->temporary_.clear();
    return Fault{{path, 0, 0}, find_creation_fault(target, number)};
  }
  std::int64_t driver = -1;
  const Hdf5Id access(file->store_->make_access_list(&driver));
  file->driver_ = Hdf5Id(driver);
  // A file of version 1.8 has no mark "open for writing" in its superblock: after a kill that mark would stay and
  // keep readers out. The datasets are then made in version 1.10, whose index (an extensible array) only ever appends.
  H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_LATEST);
  const Hdf5Id creation = make_creation_list(H5P_FILE_CREATE);
  H5Pset_file_space_strategy(creation.get(), H5F_FSPACE_STRATEGY_NONE, false, 1);  // places come from CommitFile alone
  file->file_ = Hdf5Id(H5Fcreate(file->temporary_.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()));
  if (!file->file_.valid() || H5Fset_libver_bounds(file->file_.get(), H5F_LIBVER_V110, H5F_LIBVER_LATEST) < 0) {
    return Fault{{path, 0, 0},
                 find_creation_fault(target, file->store_->failed() ? file->store_->error_number() : EIO)};
  }
  return file;
}

Hdf5File::~Hdf5File() {
  close();
  if (!temporary_.empty()) std::remove(temporary_.c_str());
}

void Hdf5File::fail(const std::string& doing) {
  if (!error_.empty()) return;
  const int number = store_->error_number();
  error_ = path_ + ": " + (number ? std::strerror(number) : "HDF5 failed") + " (" + doing +
           "); what was recorded before is readable";
}

bool Hdf5File::check(bool good, const std::string& doing) {
  if (!good || store_->failed()) fail(doing);
  return ok();
}

void Hdf5File::add_group(const std::string& path) {
  if (!ok()) return;
  const Hdf5Silence silence;
  const Hdf5Id list = make_creation_list(H5P_GROUP_CREATE);
  const Hdf5Id group(H5Gcreate2(file_.get(), path.c_str(), H5P_DEFAULT, list.get(), H5P_DEFAULT));
  check(group.valid(), "creating " + path);
}

void Hdf5File::add_attribute(const std::string& object, const std::string& name, std::int64_t type, std::int64_t space,
                             const void* values) {
  if (!ok()) return;
  const Hdf5Silence silence;
  const Hdf5Id attribute(
      H5Acreate_by_name(file_.get(), object.c_str(), name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  check(attribute.valid() && H5Awrite(attribute.get(), type, values) >= 0, "writing attribute " + name);
}

void Hdf5File::add_attribute(const std::string& object, const std::string& name, const std::string& text) {
  if (text.size() > kMaxAttributeText) {
    add_texts("/" + name, {text}, true);
    add_attribute(object, name, "dataset /" + name);
    return;
  }
  const Hdf5Id type = make_text_type(text.size());
  const Hdf5Id space(H5Screate(H5S_SCALAR));
  add_attribute(object, name, type.get(), space.get(), TextCells({text}).cells.data());
}

void Hdf5File::add_attribute(const std::string& object, const std::string& name,
                             const std::vector<std::string>& texts) {
  const TextCells written(texts);
  const Hdf5Id type = make_text_type(written.width);
  const hsize_t count = texts.size();
  const Hdf5Id space(H5Screate_simple(1, &count, nullptr));
  add_attribute(object, name, type.get(), space.get(), written.cells.data());
}

void Hdf5File::add_attribute(const std::string& object, const std::string& name, std::int64_t number) {
  const Hdf5Id space(H5Screate(H5S_SCALAR));
  add_attribute(object, name, H5T_NATIVE_INT64, space.get(), &number);
}

void Hdf5File::add_attribute(const std::string& object, const std::string& name, double number) {
  const Hdf5Id space(H5Screate(H5S_SCALAR));
  add_attribute(object, name, H5T_NATIVE_DOUBLE, space.get(), &number);
}

void Hdf5File::add_attribute(const std::string& object, const std::string& name, std::span<const double> numbers) {
  const hsize_t count = numbers.size();
  const Hdf5Id space(H5Screate_simple(1, &count, nullptr));
  add_attribute(object, name, H5T_NATIVE_DOUBLE, space.get(), numbers.data());
}

void Hdf5File::add_texts(const std::string& path, const std::vector<std::string>& texts, bool scalar) {
  if (!ok()) return;
  const Hdf5Silence silence;
  const TextCells written(texts);
  const Hdf5Id type = make_text_type(written.width);
  const hsize_t count = texts.size();
  const Hdf5Id space(scalar ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, nullptr));
  const Hdf5Id list = make_creation_list(H5P_DATASET_CREATE);
  const Hdf5Id dataset(
      H5Dcreate2(file_.get(), path.c_str(), type.get(), space.get(), H5P_DEFAULT, list.get(), H5P_DEFAULT));
  const bool good = dataset.valid() && (texts.empty() || H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL,
                                                                  H5P_DEFAULT, written.cells.data()) >= 0);
  check(good, "writing " + path);
}

void Hdf5File::add_table(const std::string& path, Hdf5Type type, const std::vector<std::size_t>& shape,
                         const void* values) {
  if (!ok()) return;
  const Hdf5Silence silence;
  const std::vector<hsize_t> dims(shape.begin(), shape.end());
  const Hdf5Id space(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr));
  const Hdf5Id list = make_creation_list(H5P_DATASET_CREATE);
  const Hdf5Id dataset(
      H5Dcreate2(file_.get(), path.c_str(), types_of(type).file, space.get(), H5P_DEFAULT, list.get(), H5P_DEFAULT));
  const bool empty = H5Sget_simple_extent_npoints(space.get()) == 0;
  const bool good = dataset.valid() && (empty || H5Dwrite(dataset.get(), types_of(type).memory, H5S_ALL, H5S_ALL,
                                                          H5P_DEFAULT, values) >= 0);
  check(good, "writing " + path);
}

Hdf5GrowingDataset Hdf5File::add_growing(const std::string& path, Hdf5Type type,
                                         const std::vector<std::size_t>& row_shape, std::size_t chunk_rows) {
  Hdf5GrowingDataset dataset{{}, type, row_shape, 0};
  if (!ok()) return dataset;
  const Hdf5Silence silence;
  std::vector<hsize_t> dims{0}, limit{H5S_UNLIMITED}, chunk{chunk_rows};
  for (const std::size_t n : row_shape) {
    dims.push_back(n);
    limit.push_back(n > 0 ? n : 1);  // a chunk may not be empty, nor larger than the limit
    chunk.push_back(limit.back());
  }
  const Hdf5Id space(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), limit.data()));
  const Hdf5Id creation = make_creation_list(H5P_DATASET_CREATE);
  H5Pset_chunk(creation.get(), static_cast<int>(chunk.size()), chunk.data());
  H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER);
  // No cache of chunks: rows go straight to their place, and what is on disk is not written a second time.
  const Hdf5Id access(H5Pcreate(H5P_DATASET_ACCESS));
  H5Pset_chunk_cache(access.get(), 0, 0, 0);
  dataset.id = Hdf5Id(H5Dcreate2(file_.get(), path.c_str(), types_of(type).file, space.get(), H5P_DEFAULT,
                                 creation.get(), access.get()));
  check(dataset.id.valid(), "creating " + path);
  return dataset;
}

void Hdf5File::append_rows(const void* values, std::size_t rows, Hdf5GrowingDataset* dataset) {
  if (!ok() || rows == 0) return;
  const Hdf5Silence silence;
  hsize_t first[4] = {dataset->rows}, count[4] = {rows}, total[4] = {dataset->rows + rows};
  const int rank = 1 + static_cast<int>(dataset->shape.size());
  bool empty = false;
  for (int i = 1; i < rank; ++i) {
    count[i] = total[i] = dataset->shape[i - 1];
    empty = empty || count[i] == 0;
  }
  bool good = H5Dset_extent(dataset->id.get(), total) >= 0;
  if (good && !empty) {
    const Hdf5Id space(H5Dget_space(dataset->id.get()));
    const Hdf5Id memory(H5Screate_simple(rank, count, nullptr));
    good = H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, first, nullptr, count, nullptr) >= 0 &&
           H5Dwrite(dataset->id.get(), types_of(dataset->type).memory, memory.get(), space.get(), H5P_DEFAULT,
                    values) >= 0;
  }
  if (check(good, "writing")) dataset->rows += rows;
}

void Hdf5File::write_last(const Hdf5GrowingDataset& dataset) {
  if (!ok()) return;
  H5O_info_t info{};
  if (check(H5Oget_info2(dataset.id.get(), &info, H5O_INFO_BASIC) >= 0, "finding a header"))
    store_->write_last(info.addr);
}

bool Hdf5File::flush() {
  if (!ok() || !file_.valid()) return false;
  const Hdf5Silence silence;
  const bool good = H5Fflush(file_.get(), H5F_SCOPE_GLOBAL) >= 0;
  return check(good, "flushing");
}

bool Hdf5File::publish() {
  if (!flush()) return false;
  if (CommitFile::is_written(path_)) {
    error_ = path_ + ": is being written by another run that began at the same time";
    return false;
  }
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    error_ = path_ + ": cannot be replaced: " + std::strerror(errno);
    return false;
  }
  temporary_.clear();
  return true;
}

bool Hdf5File::close() {
  if (!file_.valid()) return ok();
  const Hdf5Silence silence;
  const bool flushed = H5Fflush(file_.get(), H5F_SCOPE_GLOBAL) >= 0;
  file_.reset();
  check(flushed, "closing");
  driver_.reset();
  store_->release();
  return ok();
}

void Hdf5File::set_before_change(std::function<void()> hook) { store_->before_change = std::move(hook); }

}  // namespace slipstick
