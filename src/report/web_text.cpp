#include "report/web_text.h"

#include <slipstick/output_file.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace slipstick {

namespace {

constexpr const char* kPageStyle =
    "body{font:16px/1.5 'DejaVu Sans',sans-serif;color:#222;max-width:72em;margin:2em auto;padding:0 1em}"
    "h1{margin-bottom:.2em}h2{margin-top:2.2em;border-bottom:2px solid #222}h3{margin-bottom:.2em}"
    "p{max-width:48em;margin:.4em 0 .8em}nav table{margin:1em 0}"
    "table{border-collapse:collapse;font-size:14px;font-variant-numeric:tabular-nums}"
    "td,th{padding:.1em .9em;border-bottom:1px solid #ddd;text-align:right;white-space:nowrap}"
    "td:first-child,th:first-child,td.from,th.from{text-align:left}td.from{color:#666}"
    ".ok{color:#176;white-space:nowrap}.bad{color:#b00;font-weight:bold}"
    "img{max-width:100%;margin:1em 0;display:block}summary{cursor:pointer;color:#444;margin:.4em 0}";

}  // namespace

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

std::string make_picture(std::string_view name, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string png(std::istreambuf_iterator<char>(file), {});
  int width = 0;  // bytes 16 to 19
  for (std::size_t k = 16; k < 20 && k < png.size(); ++k) width = 256 * width + static_cast<unsigned char>(png[k]);
  return "<img width=" + std::to_string(width / 2) + " alt='" + escape_html(name) + "' src='data:image/png;base64," +
         encode_base64(png) + "'>\n";
}

std::string make_page_head(std::string_view title, std::string_view heading) {
  return "<!doctype html>\n<html lang=en><meta charset=utf-8><title>" + escape_html(title) + "</title>\n<style>" +
         std::string(kPageStyle) + "</style>\n<h1>" + escape_html(heading) + "</h1>\n";
}

Faults save_page(const std::string& folder, const std::string& name, const std::string& text) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) return {Fault{{folder, 0, 0}, "cannot make this folder: " + code.message()}};
  OutputFile file;
  std::string fault;
  if (file.open(folder + "/" + name, &fault) && file.write(text, &fault)) return {};
  return {Fault{{}, fault}};
}

}  // namespace slipstick
