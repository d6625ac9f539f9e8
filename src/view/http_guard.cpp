#include "view/http_guard.h"

#include <sys/random.h>

#include <algorithm>
#include <array>

namespace slipstick {

namespace {

/// Takes as long for a wrong token as for a right one.
bool is_equal(std::string_view given, std::string_view token) {
  if (given.size() != token.size()) return false;
  unsigned different = 0;
  for (std::size_t i = 0; i < token.size(); ++i) different |= static_cast<unsigned char>(given[i] ^ token[i]);
  return different == 0;
}

bool is_own_host(std::string_view host, int port) {
  const std::string end = ":" + std::to_string(port);
  return host == "127.0.0.1" + end || host == "localhost" + end;
}

bool is_own_origin(std::string_view origin, int port) {
  constexpr std::string_view kScheme = "http://";
  return origin.starts_with(kScheme) && is_own_host(origin.substr(kScheme.size()), port);
}

}  // namespace

std::string make_token() {
  std::array<unsigned char, 16> bytes;
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return "";
  std::string token;
  for (const unsigned char byte : bytes) {
    token += "0123456789abcdef"[byte >> 4];
    token += "0123456789abcdef"[byte & 15];
  }
  return token;
}

HttpVerdict judge(const HttpRequest& request, std::string_view token, int port) {
  if (!request.host || !is_own_host(*request.host, port)) return {403, "wrong Host", {}};
  if (request.origin ? !is_own_origin(*request.origin, port) : request.upgrade) return {403, "wrong Origin", {}};
  if (request.method != "GET" && request.method != "HEAD") return {405, "only GET", {}};
  if (request.path.empty() || request.path[0] != '/') return {400, "bad path", {}};
  const std::string_view path = request.path.substr(1);
  const std::size_t slash = path.find('/');
  if (token.empty() || !is_equal(path.substr(0, slash), token))
    return {403, "wrong token: use the whole address that 'slipstick view' printed", {}};
  if (slash == std::string_view::npos) return {404, "the address ends with a slash", {}};
  return {200, "", path.substr(slash + 1)};
}

std::optional<std::size_t> find_number(std::string_view query, std::string_view key) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (!pair.starts_with(key) || pair.size() <= key.size() || pair[key.size()] != '=') continue;
    const std::string_view digits = pair.substr(key.size() + 1);
    if (digits.empty() || digits.size() > 9) return std::nullopt;
    std::size_t number = 0;
    for (const char c : digits) {
      if (c < '0' || c > '9') return std::nullopt;
      number = 10 * number + static_cast<std::size_t>(c - '0');
    }
    return number;
  }
  return std::nullopt;
}

}  // namespace slipstick
