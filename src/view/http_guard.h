// Who may talk to the server. Pure functions, so that every case can be tested without a socket.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace slipstick {

/// What of a request decides.
struct HttpRequest {
  std::string_view method;
  std::string_view path;                   ///< without the query
  std::optional<std::string_view> host;    ///< header Host
  std::optional<std::string_view> origin;  ///< header Origin
  bool upgrade = false;                    ///< asks for a WebSocket
};

struct HttpVerdict {
  int status = 200;
  const char* reason = "";    ///< of a refusal
  std::string_view resource;  ///< the path below the token, without a leading slash
};

/// 128 random bits of the system, as 32 hexadecimal digits; empty when the system has none.
std::string make_token();

/// Host and Origin must name this server (a page elsewhere, or a name that was pointed at 127.0.0.1, does not), and the
/// path must begin with the token. A WebSocket must say its Origin; a plain request may leave it out.
HttpVerdict judge(const HttpRequest& request, std::string_view token, int port);

/// A whole number of at most nine digits, from `key=number` in a query.
std::optional<std::size_t> find_number(std::string_view query, std::string_view key);

}  // namespace slipstick
