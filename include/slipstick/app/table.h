// Room: report. Series of a recording as CSV, every number with all its digits.
#pragma once

#include <slipstick/result.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace slipstick {

struct TableSeries {
  std::string name, about;
};
/// What `write_table` knows.
std::vector<TableSeries> table_series();

struct TableRequest {
  std::string recording;
  std::vector<std::string> what;    ///< names of table_series()
  std::vector<std::string> bodies;  ///< of the series that are about bodies; empty: all
  std::vector<std::string> joints;  ///< of those about joints; empty: all
};

/// The names that a request may use.
struct TableNames {
  std::vector<std::string> bodies, joints;
};
/// A Fault when the recording cannot be read.
Result<TableNames> read_table_names(const std::string& recording);

/// Text goes to `write` piece by piece, which returns false to end it. Series with a row for each frame stand side by
/// side after the time; those with rows of their own (contacts, events) stand alone.
Faults write_table(const TableRequest& request, const std::function<bool(const std::string&)>& write);

}  // namespace slipstick
