// A simulation that runs in a thread of its own and is watched and steered by others. It waits for nobody: a watcher
// that is too slow misses frames.
#pragma once

#include "record/record_frames.h"
#include "view/packet.h"
#include "view/pull.h"

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

class LiveSimulation {
 public:
  explicit LiveSimulation(Scene scene);
  ~LiveSimulation();
  LiveSimulation(const LiveSimulation&) = delete;
  LiveSimulation& operator=(const LiveSimulation&) = delete;
  /// Lets all watchers go and takes no more of them; they may still call `leave` and `command`.
  void end();

  /// A new watcher: the inbox begins with the description and the present frame. Null when there are too many.
  std::shared_ptr<LiveInbox> watch();
  void leave(const std::shared_ptr<LiveInbox>& inbox);
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
  };

  void loop();
  bool wait_for_work(Wishes* wishes);
  void apply(const Wishes& wishes);
  void restart(const State& state);
  void advance();
  void publish();
  void send(std::string bytes, bool may_be_dropped);
  std::string make_first_packet() const;
  std::string make_frame_packet();
  std::string handle(const Json& message);
  std::string handle_set(const Json& message);
  std::string handle_pull(const Json& message);

  const Scene scene_;
  // Owned by the thread.
  std::unique_ptr<Simulation> simulation_;
  SimulationOptions options_;
  RecordFrames frames_;
  std::optional<LivePull> pull_;
  Inputs inputs_;
  Clock::time_point last_publish_, due_;
  double realtime_ = 0;  ///< simulated over wall time, smoothed
  std::string note_;

  // Shared.
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  bool paused_ = false;
  double speed_ = 1;
  Wishes wishes_;
  SimulationOptions wanted_options_;
  std::vector<std::shared_ptr<LiveInbox>> inboxes_;
  std::shared_ptr<const std::string> last_frame_;
  std::thread thread_;
};

}  // namespace slipstick
