// Draws with cairo, the same for PNG and SVG. The file appears whole or not at all.
#include <slipstick/app/plot.h>

#include <cairo-svg.h>
#include <cairo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "report/plot_scale.h"

namespace slipstick {

namespace {

constexpr double kPanelWidth = 460, kPanelHeight = 340;  // of the axes' box
constexpr double kLeft = 88, kRight = 24, kTop = 44, kBottom = 58;
constexpr double kResolution = 2;  // PNG pixels a unit
constexpr double kTextSize = 13, kTitleSize = 15, kNoteSize = 10.5;

struct Colour {
  double r, g, b;
};
/// Ten that people with any colour vision tell apart, with line styles beyond.
constexpr std::array<Colour, 10> kColours{{{.12, .47, .71},
                                           {.90, .38, .00},
                                           {.10, .60, .35},
                                           {.80, .16, .20},
                                           {.50, .35, .70},
                                           {.45, .30, .20},
                                           {.90, .45, .70},
                                           {.45, .45, .45},
                                           {.65, .62, .05},
                                           {.05, .65, .75}}};

enum class Align { Left, Centre, Right };

class Canvas {
 public:
  explicit Canvas(cairo_t* cairo) : c_(cairo) {
    cairo_select_font_face(c_, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  }

  void draw_panel(const Plot& plot, double x, double y);
  void draw_legend(const std::vector<PlotLine>& lines, double x, double y);
  /// Inside a panel, in its upper right corner, on a ground of its own.
  void draw_inner_legend(const std::vector<PlotLine>& lines, double x, double y);
  double legend_width(const std::vector<PlotLine>& lines);

 private:
  void set_colour(const Colour& colour) { cairo_set_source_rgb(c_, colour.r, colour.g, colour.b); }
  void set_style(std::size_t index, bool dashed);
  double text_width(const std::string& text, double size);
  void draw_text(const std::string& text, double x, double y, double size, Align align);
  void draw_upright_text(const std::string& text, double x, double y, double size);
  void draw_axes(const Plot& plot, const PlotScale& across, const PlotScale& up, double x, double y);
  void draw_line(const PlotLine& line, std::size_t index, const PlotScale& across, const PlotScale& up, double x,
                 double y);
  void draw_markers(const PlotLine& line, const PlotScale& across, const PlotScale& up, double x, double y);

  cairo_t* c_;
};

void Canvas::set_style(std::size_t index, bool dashed) {
  set_colour(kColours[index % kColours.size()]);
  cairo_set_line_width(c_, 1.8);
  const double dashes[] = {7, 4}, dots[] = {2, 3};
  cairo_set_dash(c_, nullptr, 0, 0);
  if (dashed) cairo_set_dash(c_, dashes, 2, 0);
  if (!dashed && index >= kColours.size()) cairo_set_dash(c_, dots, 2, 0);
}

double Canvas::text_width(const std::string& text, double size) {
  cairo_set_font_size(c_, size);
  cairo_text_extents_t extents;
  cairo_text_extents(c_, text.c_str(), &extents);
  return extents.x_advance;
}

void Canvas::draw_text(const std::string& text, double x, double y, double size, Align align) {
  const double width = text_width(text, size);
  cairo_set_source_rgb(c_, 0.1, 0.1, 0.1);
  cairo_move_to(c_, align == Align::Left ? x : align == Align::Centre ? x - width / 2 : x - width, y);
  cairo_show_text(c_, text.c_str());
}

void Canvas::draw_upright_text(const std::string& text, double x, double y, double size) {
  cairo_save(c_);
  cairo_translate(c_, x, y);
  cairo_rotate(c_, -M_PI / 2);
  draw_text(text, 0, 0, size, Align::Centre);
  cairo_restore(c_);
}

void Canvas::draw_axes(const Plot& plot, const PlotScale& across, const PlotScale& up, double x, double y) {
  cairo_set_dash(c_, nullptr, 0, 0);
  const auto line = [this](double x0, double y0, double x1, double y1, double grey, double width) {
    cairo_set_source_rgb(c_, grey, grey, grey);
    cairo_set_line_width(c_, width);
    cairo_move_to(c_, x0, y0);
    cairo_line_to(c_, x1, y1);
    cairo_stroke(c_);
  };
  const double bottom = y + kPanelHeight;
  for (const PlotTick& tick : across.ticks()) {
    const double at = x + tick.place * kPanelWidth;
    line(at, y, at, bottom, tick.label.empty() ? 0.94 : 0.86, 0.8);
    line(at, bottom, at, bottom + (tick.label.empty() ? 3 : 5), 0.3, 1);
    draw_text(tick.label, at, bottom + 20, kTextSize, Align::Centre);
  }
  for (const PlotTick& tick : up.ticks()) {
    const double at = bottom - tick.place * kPanelHeight;
    line(x, at, x + kPanelWidth, at, tick.label.empty() ? 0.94 : 0.86, 0.8);
    line(x - (tick.label.empty() ? 3 : 5), at, x, at, 0.3, 1);
    draw_text(tick.label, x - 9, at + 4.5, kTextSize, Align::Right);
  }
  cairo_set_source_rgb(c_, 0.3, 0.3, 0.3);
  cairo_set_line_width(c_, 1);
  cairo_rectangle(c_, x, y, kPanelWidth, kPanelHeight);
  cairo_stroke(c_);
  draw_text(plot.title, x + kPanelWidth / 2, y - 14, kTitleSize, Align::Centre);
  draw_text(plot.x.label, x + kPanelWidth / 2, bottom + 44, kTextSize, Align::Centre);
  draw_upright_text(plot.y.label, x - 70, y + kPanelHeight / 2, kTextSize);
}

void Canvas::draw_line(const PlotLine& line, std::size_t index, const PlotScale& across, const PlotScale& up, double x,
                       double y) {
  cairo_save(c_);
  cairo_rectangle(c_, x - 3, y - 3, kPanelWidth + 6, kPanelHeight + 6);
  cairo_clip(c_);
  set_style(index, line.dashed);
  cairo_set_line_join(c_, CAIRO_LINE_JOIN_ROUND);
  bool pen_down = false;
  double last = 0;
  const std::size_t count = std::min(line.x.size(), line.y.size());
  for (std::size_t k = 0; k < count; ++k) {
    if (!across.shows(line.x[k]) || !up.shows(line.y[k])) {
      pen_down = false;  // a gap
      continue;
    }
    const double px = x + across.place(line.x[k]) * kPanelWidth;
    const double py = y + (1 - up.place(line.y[k])) * kPanelHeight;
    if (!pen_down) {
      cairo_move_to(c_, px, py);
    } else {
      if (line.steps) cairo_line_to(c_, px, last);
      cairo_line_to(c_, px, py);
    }
    pen_down = true;
    last = py;
  }
  if (line.joined) cairo_stroke(c_);
  cairo_new_path(c_);
  if (line.markers) draw_markers(line, across, up, x, y);
  cairo_restore(c_);
}

void Canvas::draw_markers(const PlotLine& line, const PlotScale& across, const PlotScale& up, double x, double y) {
  const std::size_t count = std::min(line.x.size(), line.y.size());
  const double radius = line.joined ? 3 : 4.5;
  for (std::size_t k = 0; k < count; ++k) {
    if (!across.shows(line.x[k]) || !up.shows(line.y[k])) continue;
    const double px = x + across.place(line.x[k]) * kPanelWidth, py = y + (1 - up.place(line.y[k])) * kPanelHeight;
    cairo_arc(c_, px, py, radius, 0, 2 * M_PI);
    cairo_fill(c_);
    if (k >= line.notes.size()) continue;
    cairo_set_font_size(c_, kNoteSize);
    const bool fits = px + 8 + text_width(line.notes[k], kNoteSize) < x + kPanelWidth;
    cairo_move_to(c_, fits ? px + 7 : px - 7 - text_width(line.notes[k], kNoteSize), py + 4);
    cairo_show_text(c_, line.notes[k].c_str());  // in the colour of the line
  }
}

void Canvas::draw_panel(const Plot& plot, double x, double y) {
  std::vector<const std::vector<double>*> xs, ys;
  for (const PlotLine& line : plot.lines) {
    xs.push_back(&line.x);
    ys.push_back(&line.y);
  }
  const PlotScale across(plot.x, xs), up(plot.y, ys);
  draw_axes(plot, across, up, x, y);
  for (std::size_t k = 0; k < plot.lines.size(); ++k) draw_line(plot.lines[k], k, across, up, x, y);
}

double Canvas::legend_width(const std::vector<PlotLine>& lines) {
  double width = 0;
  for (const PlotLine& line : lines)
    if (!line.label.empty()) width = std::max(width, 44 + text_width(line.label, kTextSize));
  return width;
}

void Canvas::draw_legend(const std::vector<PlotLine>& lines, double x, double y) {
  for (std::size_t k = 0; k < lines.size(); ++k) {
    if (lines[k].label.empty()) continue;
    set_style(k, lines[k].dashed);
    if (lines[k].joined) {
      cairo_move_to(c_, x, y);
      cairo_line_to(c_, x + 28, y);
      cairo_stroke(c_);
    }
    if (lines[k].markers) {
      cairo_arc(c_, x + 14, y, 3, 0, 2 * M_PI);
      cairo_fill(c_);
    }
    draw_text(lines[k].label, x + 36, y + 4.5, kTextSize, Align::Left);
    y += 21;
  }
}

void Canvas::draw_inner_legend(const std::vector<PlotLine>& lines, double x, double y) {
  const double width = legend_width(lines);
  const auto count =
      std::count_if(lines.begin(), lines.end(), [](const PlotLine& line) { return !line.label.empty(); });
  if (count == 0) return;
  const double left = x + kPanelWidth - width - 8;
  cairo_set_source_rgba(c_, 1, 1, 1, 0.85);
  cairo_rectangle(c_, left - 6, y + 4, width + 10, 21 * static_cast<double>(count) + 4);
  cairo_fill(c_);
  draw_legend(lines, left, y + 16);
}

/// All panels have lines of the same names: one legend serves them.
bool has_one_legend(const std::vector<Plot>& panels) {
  const auto same = [](const PlotLine& a, const PlotLine& b) { return a.label == b.label; };
  return std::all_of(panels.begin(), panels.end(), [&](const Plot& plot) {
    const auto &a = plot.lines, &b = panels[0].lines;
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
  });
}

/// Up to three panels side by side; four make two rows of two, more make rows of three.
std::size_t count_columns(const std::vector<Plot>& panels) {
  return panels.size() == 4 ? 2 : std::min<std::size_t>(panels.size(), 3);
}

void draw(cairo_t* cairo, const std::vector<Plot>& panels, double width, double height) {
  cairo_set_source_rgb(cairo, 1, 1, 1);
  cairo_rectangle(cairo, 0, 0, width, height);
  cairo_fill(cairo);
  Canvas canvas(cairo);
  const bool one_legend = has_one_legend(panels);
  const std::size_t columns = count_columns(panels);
  constexpr double kAcross = kPanelWidth + kRight + kLeft, kDown = kTop + kPanelHeight + kBottom;
  for (std::size_t k = 0; k < panels.size(); ++k) {
    const std::size_t row = k / columns, column = k % columns;
    const double x = kLeft + kAcross * static_cast<double>(column), y = kTop + kDown * static_cast<double>(row);
    canvas.draw_panel(panels[k], x, y);
    if (!one_legend) canvas.draw_inner_legend(panels[k].lines, x, y);
  }
  if (!panels.empty() && one_legend)
    canvas.draw_legend(panels[0].lines, kAcross * static_cast<double>(columns) + 8, kTop + 10);
}

/// Width of a picture of these panels; a legend that serves them all stands at the right.
double calc_width(const std::vector<Plot>& panels) {
  cairo_surface_t* surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
  cairo_t* cairo = cairo_create(surface);
  const double legend = panels.empty() || !has_one_legend(panels) ? 0 : Canvas(cairo).legend_width(panels[0].lines);
  cairo_destroy(cairo);
  cairo_surface_destroy(surface);
  return std::ceil(static_cast<double>(count_columns(panels)) * (kLeft + kPanelWidth + kRight) +
                   (legend > 0 ? legend + 24 : 0));
}

bool write(const std::string& path, bool svg, const std::vector<Plot>& panels) {
  const std::size_t rows = panels.empty() ? 1 : (panels.size() - 1) / count_columns(panels) + 1;
  const double width = std::max(calc_width(panels), 100.0);
  const double height = static_cast<double>(rows) * (kTop + kPanelHeight + kBottom);
  cairo_surface_t* surface = svg ? cairo_svg_surface_create(path.c_str(), width, height)
                                 : cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(kResolution * width),
                                                              static_cast<int>(kResolution * height));
  cairo_t* cairo = cairo_create(surface);
  if (!svg) cairo_scale(cairo, kResolution, kResolution);
  draw(cairo, panels, width, height);
  bool good = cairo_status(cairo) == CAIRO_STATUS_SUCCESS;
  cairo_destroy(cairo);
  if (svg) {
    cairo_surface_finish(surface);
  } else {
    good = good && cairo_surface_write_to_png(surface, path.c_str()) == CAIRO_STATUS_SUCCESS;
  }
  good = good && cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS;
  cairo_surface_destroy(surface);
  return good;
}

}  // namespace

Faults save_plot(const std::string& path, const std::vector<Plot>& panels) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending != ".png" && ending != ".svg") return {Fault{{path, 0, 0}, "a picture's name must end in .png or .svg"}};
  const std::string temporary = path + ".partial." + std::to_string(::getpid());
  std::error_code code;
  if (write(temporary, ending == ".svg", panels)) {
    std::filesystem::rename(temporary, path, code);
    if (!code) return {};
  }
  std::filesystem::remove(temporary, code);
  return {Fault{{path, 0, 0}, "the picture cannot be written; does its folder exist?"}};
}

}  // namespace slipstick
