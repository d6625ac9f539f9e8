// Room: base. Bad input is a value, not an exception: a Result holds either a T or the list of all faults.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace slipstick {

/// Where a fault sits in a text file; line 0 means "no place in a file".
struct SourcePlace {
  std::string file;
  int line = 0;    ///< 1-based
  int column = 0;  ///< 1-based
};

/// One thing wrong with the input, in one line: what, where and, if possible, the remedy.
struct Fault {
  SourcePlace place;
  std::string message;

  /// "file.yaml:12:5: message", or the bare message when there is no place.
  std::string text() const {
    if (place.line == 0) return place.file.empty() ? message : place.file + ": " + message;
    return place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": " + message;
  }
};

using Faults = std::vector<Fault>;

template <class T>
class Result {
 public:
  Result(T value) : value_(std::move(value)) {}              // NOLINT(google-explicit-constructor)
  Result(Faults faults) : value_(std::move(faults)) {}       // NOLINT(google-explicit-constructor)
  Result(Fault fault) : value_(Faults{std::move(fault)}) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return std::holds_alternative<T>(value_); }
  explicit operator bool() const { return ok(); }
  /// Without one (ask `ok` first) a std::logic_error that says which fault there was.
  const T& value() const& { return *checked(std::get_if<T>(&value_)); }
  T& value() & { return *checked(std::get_if<T>(&value_)); }
  T&& value() && { return std::move(*checked(std::get_if<T>(&value_))); }
  const T& operator*() const { return value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }
  /// Empty where there is a value.
  const Faults& faults() const {
    static const Faults none;
    const Faults* found = std::get_if<Faults>(&value_);
    return found != nullptr ? *found : none;
  }

 private:
  template <class Found>
  Found* checked(Found* found) const {
    if (found != nullptr) return found;
    throw std::logic_error("a Result without a value: " +
                           (faults().empty() ? std::string("no fault either") : faults().front().text()));
  }

  std::variant<T, Faults> value_;
};

}  // namespace slipstick
