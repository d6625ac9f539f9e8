#include "io/web_text.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace slipstick {

std::string encode_base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
    unsigned group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = (group << 8) | (k < have ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) text += k <= have ? kDigits[(group >> (18 - 6 * k)) & 63] : '=';
  }
  return text;
}

std::string escape_html(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

Faults save_page(const std::string& folder, const std::string& name, const std::string& text) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) return {Fault{{folder, 0, 0}, "cannot make this folder: " + code.message()}};
  const std::string path = folder + "/" + name, temporary = path + ".partial." + std::to_string(::getpid());
  std::ofstream file(temporary, std::ios::binary);
  file << text;
  file.close();
  if (file) std::filesystem::rename(temporary, path, code);
  if (file && !code) return {};
  std::filesystem::remove(temporary, code);
  return {Fault{{path, 0, 0}, "cannot be written"}};
}

}  // namespace slipstick
