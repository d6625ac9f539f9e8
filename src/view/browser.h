// A headless Chromium of our own, spoken to through its debugging pipe: no port is opened, nobody else can talk to it.
// It ends with this object, and when this program dies.
#pragma once

#include "view/packet.h"

#include <slipstick/result.h>

#include <sys/types.h>

#include <string>

namespace slipstick {

class Browser {
 public:
  /// `program`: of find_browser.
  static Result<Browser> start(const std::string& program);
  ~Browser();
  Browser(Browser&& other) noexcept;
  Browser& operator=(Browser&&) = delete;

  /// A page of this size in pixels. Only what we made ourselves: the browser has no sandbox.
  Result<bool> open(const std::string& address, int width, int height);
  /// The value of an expression of the page; promises are waited for.
  Result<Json> evaluate(const std::string& expression);

 private:
  Browser() = default;
  Result<Json> call(const std::string& method, Json parameters);
  bool write(const std::string& message) const;
  /// The next message; nothing when the browser is gone or says nothing for a minute.
  bool read(std::string* message);

  pid_t process_ = -1;
  int in_ = -1, out_ = -1;  ///< our ends of its pipes
  std::string profile_;     ///< its folder, removed at the end
  std::string session_, unread_;
  int calls_ = 0;
};

}  // namespace slipstick
