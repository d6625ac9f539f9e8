// The file underneath an HDF5 file, with an order of writing that makes every instant a good one to be killed at.
//
// HDF5 keeps its bookkeeping (metadata) in a tree: object headers name index blocks, those name data. Rewriting it in
// place in an arbitrary order leaves, between two of the writes, a parent that names a child that is not there yet.
// This driver writes raw data at once (nothing on disk names it yet), holds all metadata back until HDF5 flushes, and
// then writes it children first. After a kill the file is therefore as of the last flush or, inside one, some of its
// datasets are as of this flush and some as of the last; the one named by `write_last` is never ahead of another.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace slipstick {

class CommitFile {
 public:
  CommitFile() = default;
  ~CommitFile();
  CommitFile(const CommitFile&) = delete;
  CommitFile& operator=(const CommitFile&) = delete;

  /// Creates the file, replacing one that is there; false with errno set.
  bool create(const std::string& path);
  /// Whether a file is being written by a CommitFile, of this process or another.
  static bool is_written(const std::string& path);
  /// Nothing more will be written: others may replace the file.
  void release();
  /// A file access list (hid_t, owned by the caller) under which H5Fcreate writes here, whatever name it is given.
  /// The driver's registration goes into `driver`, to be released after the file has been closed.
  std::int64_t make_access_list(std::int64_t* driver);
  /// The address of the object header that is written last of all.
  void write_last(std::uint64_t header_address) { last_header_ = header_address; }

  /// After a failure nothing more is written and HDF5 is told that all is well, so that it closes in order; the file
  /// stays as of the last complete flush.
  bool failed() const { return error_number_ != 0; }
  int error_number() const { return error_number_; }

  /// Called before each system call that changes the file: tests are killed from here.
  std::function<void()> before_change;

  // What the driver's callbacks call.
  void write_raw(std::uint64_t address, std::size_t size, const void* bytes);
  void hold_back(std::uint64_t address, std::size_t size, const void* bytes);
  bool read(std::uint64_t address, std::size_t size, void* bytes) const;
  std::uint64_t allocate(std::uint64_t size);
  void commit();
  std::uint64_t end_of_allocation = 0;
  std::uint64_t size() const { return size_; }

 private:
  /// A piece of metadata held back; its bytes start at bytes_[offset].
  struct Piece {
    std::uint64_t address = 0;
    std::size_t size = 0;
    std::size_t offset = 0;
    int rank = 0;
  };
  bool patch_pieces(std::uint64_t address, std::size_t size, const unsigned char* bytes);
  int calc_rank(const Piece& piece) const;
  void write_all(std::uint64_t address, std::size_t size, const unsigned char* bytes);
  void resize(std::uint64_t size);

  int descriptor_ = -1;
  int error_number_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t last_header_ = 0;
  std::uint64_t committed_ = 0;  ///< end of what the last commit left in the file: what lies beyond is new
  std::vector<Piece> pieces_;
  std::vector<unsigned char> bytes_;
};

}  // namespace slipstick
