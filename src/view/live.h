// A simulation that runs in a thread of its own and is watched and steered by others. It begins with the first watcher,
// pauses at the end of the scene's duration, and in between waits for nobody: a watcher that is too slow misses frames.
#pragma once

#include "record/record_frames.h"
#include "view/live_record.h"
#include "view/packet.h"
#include "view/pull.h"

#include <slipstick/app/view.h>
#include <slipstick/scene.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace slipstick {

/// What one watcher has still to get. Bounded: old frames make room for new ones.
class LiveInbox {
 public:
  using Message = std::shared_ptr<const std::string>;
  void put(Message message, bool may_be_dropped);
  /// The next message, or null after `timeout` or once closed.
  Message take(std::chrono::milliseconds timeout);
  void close();
  bool closed() const;

 private:
  struct Entry {
    Message message;
    bool may_be_dropped = true;
  };
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> entries_;
  bool closed_ = false;
};

/// Simulated seconds a second of the clock to begin with: 1, or so that a scene of less than half a second is shown for
/// 2 to 20 s. (The page does the same with recordings: viewer/src/ui/timeline.js.)
double calc_first_speed(double duration);

class LiveSimulation {
 public:
  explicit LiveSimulation(Scene scene, const ViewOptions& options = {});
  ~LiveSimulation();
  LiveSimulation(const LiveSimulation&) = delete;
  LiveSimulation& operator=(const LiveSimulation&) = delete;
  /// Lets all watchers go and takes no more of them; they may still call `leave` and `command`.
  void end();

  /// A new watcher: the inbox begins with the description and the present frame. Null when there are too many.
  std::shared_ptr<LiveInbox> watch();
  void leave(const std::shared_ptr<LiveInbox>& inbox);
  /// Why nothing can be recorded though it was asked for, or nothing.
  const std::string& record_fault() const { return record_fault_; }
  /// One JSON command (docs/viewer.md). Returns what is wrong with it, or nothing.
  std::string command(std::string_view text);

 private:
  using Clock = std::chrono::steady_clock;
  struct Wishes {  ///< what commands asked for since the simulation last looked
    std::optional<SimulationOptions> options;
    bool reset = false;
    bool announce = false;  ///< played or paused: tell the watchers
    int steps = 0;
    bool pull_changed = false;
    std::optional<LivePull> pull;
    std::vector<std::pair<int, std::optional<double>>> motors;   ///< axis, target; nothing: the scene's
    std::vector<std::pair<std::string, double>> variables = {};  ///< to begin again with
    bool any() const {
      return options || reset || announce || steps > 0 || pull_changed || !motors.empty() || !variables.empty();
    }
  };

  void loop();
  bool wait_for_work(Wishes* wishes);
  void apply(const Wishes& wishes);
  void restart(const State& state);
  void reload(const std::vector<std::pair<std::string, double>>& variables);
  bool advance(double speed);
  void pause(const std::string& note);
  std::shared_ptr<const Scene> scene() const;
  void publish();
  void send(std::string bytes, bool may_be_dropped);
  static std::string make_first_packet(const Scene& scene, bool reloads);
  std::string make_frame_packet();
  std::vector<double> find_targets();
  std::string handle(const Json& message);
  std::string handle_set(const Json& message);
  std::string handle_pull(const Json& message);
  std::string handle_motor(const Json& message);
  std::string handle_let(const Json& message);

  const SceneReload reload_;
  std::string record_fault_;
  // Owned by the thread.
  std::unique_ptr<Simulation> simulation_;
  SimulationOptions options_;
  RecordFrames frames_;
  std::optional<LivePull> pull_;
  Inputs inputs_;
  std::vector<std::optional<double>> held_;                ///< targets of motors that a window has given, by axis
  std::vector<std::pair<std::string, double>> variables_;  ///< that a window has changed
  LiveRecord record_;
  Clock::time_point last_publish_, due_;
  double realtime_ = 0;  ///< simulated over wall time, smoothed
  std::string note_;

  // Shared.
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::shared_ptr<const Scene> scene_;  ///< changed by the thread alone
  bool watched_ = false;                ///< there has been a window
  bool paused_ = false;
  bool over_ = false;     ///< the scene's duration is, and the run waits
  bool endless_ = false;  ///< a window wants it to go on
  double speed_ = 1;      ///< simulated seconds a second of the clock
  Wishes wishes_;
  SimulationOptions wanted_options_;
  std::vector<std::shared_ptr<LiveInbox>> inboxes_;
  std::shared_ptr<const std::string> last_frame_;
  std::thread thread_;
};

}  // namespace slipstick
