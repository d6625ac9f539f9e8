// Room: view. The web viewer: a server on localhost for recordings and running scenes, and pages that need none
// (docs/viewer.md).
#pragma once

#include <slipstick/result.h>
#include <slipstick/scene.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace slipstick {

/// False when the program was built where the page could not be; `no_viewer_page_reason` says why and what helps.
bool has_viewer_page();
std::string no_viewer_page_reason();

struct ExportOptions {
  double frames_per_second = 60;              ///< of simulated time; a recording with more is thinned
  std::size_t max_poses = 4'000'000;          ///< frames times bodies; beyond it frames are left out
  std::size_t max_contact_bytes = 2'000'000;  ///< beyond it contacts are kept for fewer frames
  std::size_t max_joint_bytes = 2'000'000;    ///< and what joints do
};

/// One HTML file that holds the viewer and one or two recordings (side by side), and opens from disk.
Result<std::string> make_export_page(const std::vector<std::string>& recordings, const ExportOptions& options = {});

/// One glTF 2.0 file (.glb) that holds what is drawn and its motion as an animation; opens in Blender and its like.
Result<std::string> make_gltf(const std::string& recording, double frames_per_second = 60);

/// One card of a gallery. Paths are relative to the gallery's page.
struct GalleryCard {
  std::string title, about;
  std::string facts;    ///< one line: bodies, time, residual
  std::string page;     ///< the exported page
  std::string picture;  ///< a PNG; empty: none
};
/// The gallery's page. Texts are escaped.
std::string make_gallery_page(const std::vector<GalleryCard>& cards);

/// The Chromium of this system, or nothing.
std::string find_browser();
/// Renders an exported page into a PNG, 960 x 600, at the moment `time` (s), without its controls. False when the
/// browser did not make it.
bool render_picture(const std::string& browser, const std::string& page, double time, const std::string& picture);

/// A scene again, with other values for some of its variables (SceneVariable).
using SceneReload = std::function<Result<Scene>(const std::vector<std::pair<std::string, double>>&)>;

/// How pictures of a recording are taken.
struct PictureOptions {
  int width = 1280, height = 720;
  double rate = 30;                ///< pictures per second of film
  double speed = 1;                ///< simulated seconds per second of film
  std::optional<double> from, to;  ///< s; default: the whole recording
  std::string look = {};           ///< settings of the page, as in its address (docs/viewer.md)
};
/// Gets a PNG, its number, and how many there will be; false: enough.
using PictureSink = std::function<bool(const std::string& png, std::size_t number, std::size_t count)>;
/// Pictures of one recording (or two, compared), one after the other. False when the sink had enough; a Fault when they
/// cannot be made.
Result<bool> render_pictures(const std::string& browser, const std::vector<std::string>& recordings,
                             const PictureOptions& options, const PictureSink& sink);

struct ViewOptions {
  int port = 0;             ///< 0: any that is free
  std::string record = {};  ///< a running scene: file of its recording; later starts: _2, _3, ...; empty: none
  SceneReload reload = {};  ///< a running scene: for the sliders of its variables; null: it has none
};

/// Serves the viewer on 127.0.0.1 for as long as it lives. Only who knows the URL, a random token in it, gets an
/// answer.
class ViewServer {
 public:
  /// One recording, or two of the same scene to compare.
  static Result<ViewServer> show(const std::vector<std::string>& recordings, const ViewOptions& options = {});
  /// Simulates the scene and streams it, in its own thread: from the first window on, for the scene's duration, and
  /// longer if a window asks for it.
  static Result<ViewServer> simulate(Scene scene, const ViewOptions& options = {});
  ~ViewServer();
  ViewServer(ViewServer&&) noexcept;
  ViewServer& operator=(ViewServer&&) noexcept;

  const std::string& url() const;

  struct Impl;

 private:
  explicit ViewServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace slipstick
