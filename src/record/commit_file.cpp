#include "record/commit_file.h"

#include <fcntl.h>
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace slipstick {

static_assert(sizeof(hid_t) == sizeof(std::int64_t), "hid_t is kept as std::int64_t in headers");

namespace {

/// A lock that belongs to the open file, not to the process, and is not of the kind (flock) that HDF5's readers ask
/// for.
struct flock whole_file(short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

CommitFile::~CommitFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool CommitFile::create(const std::string& path) {
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) return false;
  struct flock lock = whole_file(F_WRLCK);
  ::fcntl(descriptor_, F_OFD_SETLK, &lock);  // file systems without locks have none: then nobody is refused
  return true;
}

void CommitFile::release() {
  struct flock lock = whole_file(F_UNLCK);
  ::fcntl(descriptor_, F_OFD_SETLK, &lock);
}

bool CommitFile::is_written(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  struct flock lock = whole_file(F_RDLCK);
  const bool held = ::fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  ::close(descriptor);
  return held;
}

/// Copies the overlap of [address, address + size) into the pieces held back, so that their order does not matter;
/// true if one of them holds all of it.
bool CommitFile::patch_pieces(std::uint64_t address, std::size_t size, const unsigned char* bytes) {
  bool covered = false;
  for (const Piece& piece : pieces_) {
    const std::uint64_t from = std::max(address, piece.address);
    const std::uint64_t to = std::min(address + size, piece.address + piece.size);
    if (from >= to) continue;
    std::memcpy(bytes_.data() + piece.offset + (from - piece.address), bytes + (from - address), to - from);
    covered = covered || (from == address && to == address + size);
  }
  return covered;
}

void CommitFile::write_raw(std::uint64_t address, std::size_t size, const void* bytes) {
  const auto* data = static_cast<const unsigned char*>(bytes);
  patch_pieces(address, size, data);  // space of metadata that was freed before it ever reached the file
  write_all(address, size, data);
}

void CommitFile::hold_back(std::uint64_t address, std::size_t size, const void* bytes) {
  const auto* data = static_cast<const unsigned char*>(bytes);
  if (patch_pieces(address, size, data)) return;
  pieces_.push_back({address, size, bytes_.size(), 0});
  bytes_.insert(bytes_.end(), data, data + size);
}

bool CommitFile::read(std::uint64_t address, std::size_t size, void* bytes) const {
  auto* out = static_cast<unsigned char*>(bytes);
  std::size_t done = 0;
  while (done < size) {
    const ssize_t n = ::pread(descriptor_, out + done, size - done, static_cast<off_t>(address + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    if (n == 0) break;  // past the end: allocated and not yet written
    done += static_cast<std::size_t>(n);
  }
  std::memset(out + done, 0, size - done);
  for (const Piece& piece : pieces_) {
    const std::uint64_t from = std::max(address, piece.address);
    const std::uint64_t to = std::min(address + size, piece.address + piece.size);
    if (from < to)
      std::memcpy(out + (from - address), bytes_.data() + piece.offset + (from - piece.address), to - from);
  }
  return true;
}

/// A kill can end a write between two pages of memory, never inside one: what is rewritten in place must not straddle.
std::uint64_t CommitFile::allocate(std::uint64_t size) {
  constexpr std::uint64_t kPage = 4096;
  std::uint64_t address = end_of_allocation;
  if (size <= kPage && address / kPage != (address + size - 1) / kPage) address = (address / kPage + 1) * kPage;
  end_of_allocation = address + size;
  return address;
}

/// Children before parents (HDF5 File Format Specification 3.0, sections II, III.C, IV.A). The superblock comes first:
/// of what changes it holds only the end of the file, which has been moved already, and a reader refuses an address
/// beyond it. Pages of an extensible array carry no signature and fall under "other".
int CommitFile::calc_rank(const Piece& piece) const {
  const std::string_view signature(reinterpret_cast<const char*>(bytes_.data()) + piece.offset,
                                   std::min<std::size_t>(piece.size, 4));
  if (signature == "\x89HDF") return 0;
  if (signature == "EADB") return 2;              // data block of an extensible array
  if (signature == "EASB") return 3;              // its super block
  if (signature == "EAIB") return 4;              // its index block
  if (signature == "EAHD") return 5;              // its header
  const bool known = piece.address < committed_;  // named by something in the file, and may name what is new
  if (signature == "OHDR") return piece.address == last_header_ ? 9 : known ? 8 : 6;
  if (signature == "OCHK" && known) return 7;  // a part of a header
  return 1;
}

void CommitFile::commit() {
  for (Piece& piece : pieces_) piece.rank = calc_rank(piece);
  std::sort(pieces_.begin(), pieces_.end(),
            [](const Piece& a, const Piece& b) { return a.rank != b.rank ? a.rank < b.rank : a.address < b.address; });
  if (size_ < end_of_allocation) resize(end_of_allocation);
  for (const Piece& piece : pieces_) write_all(piece.address, piece.size, bytes_.data() + piece.offset);
  if (size_ > end_of_allocation) resize(end_of_allocation);
  pieces_.clear();
  bytes_.clear();
  committed_ = end_of_allocation;
}

void CommitFile::write_all(std::uint64_t address, std::size_t size, const unsigned char* bytes) {
  std::size_t done = 0;
  while (done < size && !failed()) {
    if (before_change) before_change();
    const ssize_t n = ::pwrite(descriptor_, bytes + done, size - done, static_cast<off_t>(address + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      error_number_ = n < 0 ? errno : EIO;
      return;
    }
    done += static_cast<std::size_t>(n);
  }
  size_ = std::max(size_, address + done);
}

void CommitFile::resize(std::uint64_t size) {
  if (failed()) return;
  if (before_change) before_change();
  if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) {
    error_number_ = errno;
  } else {
    size_ = size;
  }
}

// ---------------------------------------------------------------- the HDF5 virtual file driver

namespace {

/// What HDF5 hands from the access list to `open`.
struct DriverInfo {
  CommitFile* file = nullptr;
};

/// HDF5 casts between this and its public part.
struct DriverFile {
  H5FD_t base;
  CommitFile* file;
};

CommitFile& file_of(const H5FD_t* f) { return *reinterpret_cast<const DriverFile*>(f)->file; }

H5FD_t* open_file(const char*, unsigned, hid_t access_list, haddr_t) {
  const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access_list));
  if (!info || !info->file) return nullptr;
  auto* opened = new DriverFile{};
  opened->file = info->file;
  return &opened->base;
}

herr_t close_file(H5FD_t* f) {
  delete reinterpret_cast<DriverFile*>(f);
  return 0;
}

int compare_files(const H5FD_t* a, const H5FD_t* b) {
  return std::less<>()(&file_of(a), &file_of(b)) ? -1 : &file_of(a) != &file_of(b);
}

/// No aggregating and no accumulating: each piece has its own place and is written by itself.
herr_t query(const H5FD_t*, unsigned long* flags) {
  if (flags) *flags = 0;
  return 0;
}

haddr_t allocate(H5FD_t* f, H5FD_mem_t, hid_t, hsize_t size) { return file_of(f).allocate(size); }

haddr_t get_eoa(const H5FD_t* f, H5FD_mem_t) { return file_of(f).end_of_allocation; }

herr_t set_eoa(H5FD_t* f, H5FD_mem_t, haddr_t address) {
  file_of(f).end_of_allocation = address;
  return 0;
}

haddr_t get_eof(const H5FD_t* f, H5FD_mem_t) { return file_of(f).size(); }

herr_t read_bytes(H5FD_t* f, H5FD_mem_t, hid_t, haddr_t address, size_t size, void* buffer) {
  return file_of(f).read(address, size, buffer) ? 0 : -1;
}

herr_t write_bytes(H5FD_t* f, H5FD_mem_t type, hid_t, haddr_t address, size_t size, const void* buffer) {
  if (type == H5FD_MEM_DRAW) {
    file_of(f).write_raw(address, size, buffer);
  } else {
    file_of(f).hold_back(address, size, buffer);
  }
  return 0;
}

herr_t flush(H5FD_t* f, hid_t, hbool_t) {
  file_of(f).commit();
  return 0;
}

herr_t truncate(H5FD_t*, hid_t, hbool_t) { return 0; }  // commit() sees to the length

H5FD_class_t make_driver_class() {
  H5FD_class_t driver{};
  driver.name = "slipstick_commit";
  driver.maxaddr = static_cast<haddr_t>(INT64_MAX);
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(DriverInfo);
  driver.open = open_file;
  driver.close = close_file;
  driver.cmp = compare_files;
  driver.query = query;
  driver.alloc = allocate;
  driver.get_eoa = get_eoa;
  driver.set_eoa = set_eoa;
  driver.get_eof = get_eof;
  driver.read = read_bytes;
  driver.write = write_bytes;
  driver.flush = flush;
  driver.truncate = truncate;
  const H5FD_mem_t map[] = H5FD_FLMAP_DICHOTOMY;  // space freed by metadata is never given to raw data, or back
  std::copy(std::begin(map), std::end(map), driver.fl_map);
  return driver;
}

}  // namespace

std::int64_t CommitFile::make_access_list(std::int64_t* driver) {
  const H5FD_class_t driver_class = make_driver_class();
  *driver = H5FDregister(&driver_class);
  const hid_t list = H5Pcreate(H5P_FILE_ACCESS);
  const DriverInfo info{this};
  if (*driver < 0 || list < 0 || H5Pset_driver(list, *driver, &info) < 0) {
    if (list >= 0) H5Pclose(list);
    return -1;
  }
  return list;
}

}  // namespace slipstick
