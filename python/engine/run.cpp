// Runs with a recording and a report, exported pages, stored states.
#include <slipstick/app/view.h>
#include <slipstick/state_file.h>

#include <chrono>

#include "boxes.h"
#include "python_solver.h"

namespace slipstick::python {

namespace {

using Clock = std::chrono::steady_clock;

/// The recording and the figures of one run.
class Runner {
 public:
  Runner(std::shared_ptr<Core> core, const std::string& record, const std::string& command)
      : core_(std::move(core)), scene_(core_->scene_as_run()), statistics_(scene_, core_->simulation()) {
    core_->check_idle();
    const State& state = core_->simulation().state();
    std::optional<ResumePoint> resumed;
    if (state.step != 0) resumed = ResumePoint{"", state.step, state.time};
    if (resumed) statistics_.set_resumed(*resumed);
    if (record.empty()) return;
    Result<Recorder> made = Recorder::create(record, scene_, command, resumed);
    if (!made) raise("RecordingError", py::make_tuple(made.faults().front().text()));
    recorder_.emplace(std::move(made).value());
    recorder_->append(core_->simulation(), nullptr);
    check_recorder();
  }

  /// At most so many steps and about so many seconds; how many were made.
  long advance(long count, double seconds) {
    const Core::Busy busy(core_.get());
    long made = 0;
    StepReport report;
    {
      const py::gil_scoped_release release;
      const Clock::time_point start = Clock::now();
      Clock::time_point now = start;
      while (made < count && !report.failed && std::chrono::duration<double>(now - start).count() < seconds) {
        report = core_->step_once();
        const Clock::time_point stepped = Clock::now();
        if (!report.failed && recorder_) recorder_->append(core_->simulation(), &report);
        const Clock::time_point recorded = Clock::now();
        statistics_.add(core_->simulation(), report, std::chrono::duration<double>(stepped - now).count(),
                        std::chrono::duration<double>(recorded - stepped).count());
        now = recorded;
        ++made;
        if (core_->prototype && core_->prototype->is_pending()) break;
      }
    }
    core_->update_views();
    last_ = report;
    if (core_->prototype) core_->prototype->rethrow();
    check_recorder();
    if (report.failed) raise_diverged(report);
    return made;
  }

  /// end: 0 complete, 1 interrupted, 2 failed.
  void close(int end) {
    statistics_.set_end(static_cast<RunEnd>(end));
    if (!recorder_) return;
    const bool written = recorder_->close(static_cast<RunEnd>(end));
    const std::string error = recorder_->error();
    recorder_.reset();
    if (!written) raise("RecordingError", py::make_tuple("the recording is not complete: " + error));
  }

  std::string report(double wall_seconds) const { return statistics_.json(core_->simulation(), wall_seconds); }
  const StepReport& last() const { return last_; }

 private:
  void check_recorder() {
    if (recorder_ && !recorder_->error().empty())
      raise("RecordingError", py::make_tuple("recording stopped: " + recorder_->error()));
  }

  std::shared_ptr<Core> core_;
  Scene scene_;
  RunStatistics statistics_;
  std::optional<Recorder> recorder_;
  StepReport last_;
};

/// The viewer on a running copy of a simulation. The server's thread may ask for the GIL (a solver in Python), so it is
/// ended without it.
class Live {
 public:
  Live(const Core& core, int port) {
    core.check_idle();
    if (!has_viewer_page()) raise("ViewerMissing", py::make_tuple(no_viewer_page_reason()));
    Scene scene = core.scene_as_run();
    scene.initial = core.simulation().state();
    if (core.prototype)  // with failures of its own
      scene.options.prototype =
          std::make_shared<PythonSolver>(core.prototype->function(), std::string(core.prototype->name()));
    const py::gil_scoped_release release;
    Result<ViewServer> server = ViewServer::simulate(std::move(scene), {port});
    const py::gil_scoped_acquire acquire;
    if (!server) raise_value_error(server.faults().front().text());
    server_.emplace(std::move(server).value());
  }
  ~Live() { close(); }
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  void close() {
    const py::gil_scoped_release release;
    server_.reset();
  }
  std::string url() const { return server_ ? server_->url() : ""; }

 private:
  std::optional<ViewServer> server_;
};

}  // namespace

void bind_run(py::module_* module) {
  py::class_<Runner>(*module, "Runner")
      .def(py::init<std::shared_ptr<Core>, const std::string&, const std::string&>())
      .def("advance", &Runner::advance)
      .def("close", &Runner::close)
      .def("report", &Runner::report)
      .def("last", &Runner::last, py::return_value_policy::copy);
  py::class_<Live>(*module, "Live").def(py::init<const Core&, int>()).def("url", &Live::url).def("close", &Live::close);
  module->def("export_page", [](const std::vector<std::string>& recordings, double frames_per_second) {
    if (!has_viewer_page()) raise("ViewerMissing", py::make_tuple(no_viewer_page_reason()));
    ExportOptions options;
    options.frames_per_second = frames_per_second;
    const Result<std::string> page = make_export_page(recordings, options);
    if (!page) raise("RecordingError", py::make_tuple(page.faults().front().text()));
    return page.value();
  });
  module->def("save_state", [](const std::string& path, const Core& core) {
    core.check_idle();
    const Faults faults = save_state(path, core.simulation());
    if (!faults.empty()) raise("RecordingError", py::make_tuple(faults.front().text()));
  });
  module->def("load_state", [](const std::string& path, const SceneBox& scene) {
    Result<StateFile> stored = load_stored_state(path);
    if (!stored) raise("RecordingError", py::make_tuple(stored.faults().front().text()));
    const std::string wrong = find_model_fault(*stored, scene.scene.model);
    if (!wrong.empty()) raise_value_error(path + ": " + wrong);
    return StateBox{std::move(stored.value().state), make_frames(scene)};
  });
}

}  // namespace slipstick::python
