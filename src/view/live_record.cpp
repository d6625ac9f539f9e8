#include "view/live_record.h"

#include <cmath>
#include <filesystem>

namespace slipstick {

namespace {

std::string make_name(const std::string& path, int number) {
  if (number <= 1) return path;
  std::filesystem::path name(path);
  const std::string file = name.stem().string() + "_" + std::to_string(number) + name.extension().string();
  return name.replace_filename(file).string();
}

}  // namespace

std::string LiveRecord::begin(const Scene& scene, const Simulation& simulation) {
  if (!wanted()) return "";
  const std::string before = file_;
  if (recorder_) end(RunEnd::Interrupted);
  if (files_ == 0 || steps_ > 0) ++files_;  // a file without a step is written anew
  file_ = make_name(path_, files_);
  steps_ = 0;
  const double time = simulation.state().time;
  std::optional<ResumePoint> resumed;
  if (time > scene.initial.time) resumed = ResumePoint{before, std::lround(time / simulation.options().step), time};
  Scene described = scene;  // as it is run, not as the file says
  described.options = simulation.options();
  auto recorder = Recorder::create(file_, described, "slipstick view --live", resumed);
  if (!recorder) return error_ = recorder.faults().front().text();
  recorder_.emplace(std::move(recorder).value());
  if (!recorder_->append(simulation, nullptr)) error_ = recorder_->error();
  return error_;
}

void LiveRecord::append(const Simulation& simulation, const StepReport& report) {
  if (!recorder_) return;
  ++steps_;
  if (recorder_->append(simulation, &report)) return;
  error_ = recorder_->error();
  recorder_.reset();
}

void LiveRecord::end(RunEnd end) {
  if (!recorder_) return;
  if (!recorder_->close(end)) error_ = recorder_->error();
  recorder_.reset();
}

}  // namespace slipstick
