// Room: record. How a program that reads recordings ends.
#pragma once

namespace slipstick {

/// For programs whose files are all closed by us: libhdf5 does nothing more when the program ends. After a damaged file
/// its own tidying goes in circles and prints about it. To be called before anything is read or written; not for
/// libraries, whose programs may use HDF5.
void end_without_hdf5();

}  // namespace slipstick
