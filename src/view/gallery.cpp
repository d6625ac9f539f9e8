// The page of all scenes.
#include <slipstick/app/view.h>

#include "report/web_text.h"
#include "view/page.h"

namespace slipstick {

namespace {

constexpr char kStyle[] = R"(
:root { color-scheme: dark light; --back: #10141a; --card: #171c24; --text: #e8ecf2; --muted: #93a0b2; --rule: #28313d; --accent: #5cc8ff }
@media (prefers-color-scheme: light) { :root { --back: #eef1f5; --card: #fff; --text: #1b2430; --muted: #5a6778; --rule: #dde3ea; --accent: #0072b2 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.5 Inter, system-ui, "Segoe UI", Roboto, sans-serif }
header, main { max-width: 1240px; margin: 0 auto; padding: 0 24px }
header { padding-top: 44px; padding-bottom: 22px }
h1 { margin: 0; font-size: 30px; letter-spacing: -0.02em; font-weight: 680 }
header p { margin: 6px 0 0; color: var(--muted) }
main { display: grid; grid-template-columns: repeat(auto-fill, minmax(300px, 1fr)); gap: 20px; padding-bottom: 60px }
a { display: flex; flex-direction: column; color: inherit; text-decoration: none; background: var(--card); border: 1px solid var(--rule); border-radius: 14px; overflow: hidden }
a:hover, a:focus-visible { border-color: var(--accent); outline: none }
img, .none { display: block; width: 100%; aspect-ratio: 8 / 5; object-fit: cover; background: var(--rule) }
.text { padding: 14px 16px 16px }
h2 { margin: 0 0 4px; font-size: 16px; font-weight: 620 }
p { margin: 0 } .text p { font-size: 13px; color: var(--muted) } .text .facts { margin-top: 8px; font-size: 12px; font-variant-numeric: tabular-nums }
)";

}  // namespace

std::string make_gallery_page(const std::vector<GalleryCard>& cards) {
  std::string html =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src 'self' file:; style-src "
      "'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>Slipstick gallery</title>\n<style>" +
      std::string(kStyle) +
      "</style>\n</head>\n<body>\n<header><h1>Slipstick</h1><p>Every shipped scene, simulated and certified step by "
      "step. "
      "A click opens the replay.</p></header>\n<main>\n";
  for (const GalleryCard& card : cards) {
    html += "<a href=\"" + escape_html(escape_path(card.page)) + "\">";
    html += card.picture.empty()
                ? "<div class=\"none\"></div>"
                : "<img loading=\"lazy\" alt=\"\" src=\"" + escape_html(escape_path(card.picture)) + "\">";
    html += "<div class=\"text\"><h2>" + escape_html(card.title) + "</h2><p>" + escape_html(card.about) +
            "</p><p class=\"facts\">" + escape_html(card.facts) + "</p></div></a>\n";
  }
  return html + "</main>\n</body>\n</html>\n";
}

}  // namespace slipstick
