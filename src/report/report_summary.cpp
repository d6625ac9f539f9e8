#include "report/report_statistics.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "report/print_text.h"

namespace slipstick {

namespace {

/// Lines of "label  text", the labels in one column.
class SummaryText {
 public:
  explicit SummaryText(bool colour) : colour_(colour) {}

  void title(const std::string& name, const std::string& detail) {
    text_ += paint("1", name) + (detail.empty() ? "" : "  " + paint("2", detail)) + "\n";
  }
  void line(const char* label, const std::string& content) {
    text_ += paint("2", print_text("  %-12s", label)) + content + "\n";
  }
  /// `style`: an SGR code, "32" green, "33" yellow, "31" red.
  std::string paint(const char* style, const std::string& content) const {
    return colour_ ? "\x1b[" + std::string(style) + "m" + content + "\x1b[0m" : content;
  }
  const std::string& text() const { return text_; }

 private:
  bool colour_;
  std::string text_;
};

std::string count(long n, const char* noun) { return print_text("%ld %s%s", n, noun, n == 1 ? "" : "s"); }

std::string make_body_count(std::size_t n) { return n == 1 ? "1 body" : print_text("%zu bodies", n); }

std::string make_phases(const RunFigures& s) {
  const PhaseTimes& t = s.phases;
  const double total = t.collision + t.assemble + t.solve + t.advance + s.record_seconds;
  const auto share = [&](double seconds) { return total > 0 ? 100 * seconds / total : 0; };
  return print_text(
      "collision %.0f %% (broad phase %.0f %%), assemble %.0f %%, solve %.0f %% (certificate %.0f %%), advance %.0f "
      "%%, "
      "record %.0f %%",
      share(t.collision), share(t.broad_phase), share(t.assemble), share(t.solve), share(t.certify), share(t.advance),
      share(s.record_seconds));
}

void add_certificate(const RunFigures& s, const SimulationOptions& options, SummaryText* out) {
  const std::string figures =
      print_text("worst residual %.2g m/s, relative %.2g (limit %.2g), %s", s.residual_max.natural,
                 s.residual_max.relative, options.tolerance, count(s.escalations, "escalation").c_str());
  if (s.steps == 0) {
    out->line("certificate", "no step was taken");
  } else if (s.uncertified == 0) {
    out->line("certificate", out->paint("1;32", "all steps certified") + ": " + figures);
  } else {
    out->line("certificate", out->paint("1;31", print_text("%ld of %ld steps NOT certified", s.uncertified, s.steps)) +
                                 ": " + figures);
    out->line("", print_text("first at t = %g s (step %ld)%s%s", s.first_uncertified.time,
                             static_cast<long>(s.first_uncertified.step), s.first_uncertified.note.empty() ? "" : ": ",
                             s.first_uncertified.note.c_str()));
  }
  if (s.world.missed > 0)
    out->line("", print_text("%d missed contacts, the worst %.2g m deep", s.world.missed, s.world.worst.depth));
  if (s.world.crossed > 0)
    out->line("", print_text("%d times a body went into another within a step, the first at t = %g s", s.world.crossed,
                             s.world.first_crossed.time));
  if (s.core_rows > 0)
    out->line("", print_text("%ld rows on the way of a centre kept fast bodies from going through", s.core_rows));
  if (s.heap_steps > 0)
    out->line("", print_text("%ld of them to the limit of heaps, %.2g: the worst to %.2g", s.heap_steps,
                             options.heap_tolerance, s.residual_max.verdict()));
  if (s.settled_steps + s.exhausted_steps > 0)
    out->line("", print_text("%ld steps finished short of %.2g (%ld with their work used up)",
                             s.settled_steps + s.exhausted_steps, options.tolerance, s.exhausted_steps));
  if (s.relaxed_steps > 0)
    out->line("",
              out->paint("33", print_text("%ld steps have an answer only with something left out", s.relaxed_steps)) +
                  print_text(": the first at t = %g s, %s", s.first_relaxed.time, s.first_relaxed.note.c_str()));
}

void add_energy(const RunFigures& s, const EnergySplit& final, SummaryText* out) {
  out->line("energy", print_text("%.6g J at the start, %.6g J at the end (kinetic %.4g, potential %.4g)",
                                 s.initial_energy.kinetic + s.initial_energy.potential, final.kinetic + final.potential,
                                 final.kinetic, final.potential));
  out->line("", print_text("loads %+.3g, motors %+.3g, prescribed motion %+.3g, damping %+.3g, friction %+.3g, impacts "
                           "%+.3g, corrections %+.3g, numerical %+.3g J",
                           s.ledger.load, s.ledger.motor, s.ledger.kinematic, s.ledger.damping, s.ledger.friction,
                           s.ledger.impact, s.ledger.correction, s.ledger.numerical));
  if (s.corrections > 0)
    out->line("", print_text("overlap corrected in positions alone after %s, by at most %.3g m in one",
                             count(s.corrections, "step").c_str(), s.corrected_max));
}

void add_health(const HealthMonitor& health, SummaryText* out) {
  if (health.alarms().empty()) {
    out->line("health", out->paint("32", "energy, joints, overlap and speeds within their limits"));
    return;
  }
  const char* label = "health";
  for (const HealthAlarm& alarm : health.alarms()) {
    out->line(label, out->paint("1;31", alarm.text()));
    label = "";
  }
  if (health.beyond_repair()) out->line("", "beyond repair: what followed means nothing");
}

void add_realtime(const RealtimeFigures& r, long steps, SummaryText* out) {
  const std::string budget = r.budget > 0 ? print_text(", %ld with the budget of %d sweeps", r.hurried, r.budget) : "";
  if (r.missed == 0) {
    out->line("real time", out->paint("32", print_text("kept pace at %gx: no deadline missed", r.rate)) + budget);
    return;
  }
  out->line("real time", out->paint("33", print_text("%ld of %ld deadlines missed", r.missed, steps)) +
                             print_text(" at %gx, worst by %.3g ms, %.3g ms late at the end", r.rate,
                                        1e3 * r.worst_lateness, 1e3 * r.final_lateness) +
                             budget);
}

}  // namespace

std::string RunStatistics::summary(const Simulation& simulation, double wall_s, bool colour) const {
  const Impl& s = *impl_;
  const Model& model = simulation.model();
  const SimulationOptions& options = simulation.options();
  const double time = simulation.state().time - s.start_time;
  const TimeFigures times = calc_time_figures(s.step_seconds);
  const double steps = std::max<double>(1, static_cast<double>(s.steps));
  SummaryText out(colour);
  out.title(s.scene_name.empty() ? s.scene_path : s.scene_name, s.scene_name.empty() ? "" : s.scene_path);
  out.line("method",
           print_text("scheme %s, solver %s, step %g s, %s", options.scheme.c_str(), make_solver_text(options).c_str(),
                      options.step, count(options.threads, "thread").c_str()));
  out.line("size", print_text("%s, %d dof, %s", make_body_count(model.bodies.size()).c_str(), model.dof,
                              count(static_cast<long>(model.joints.size()), "joint").c_str()));
  std::string run = print_text("%g s in %s, %.3g s of wall time: %.3g x real time", time,
                               count(s.steps, "step").c_str(), wall_s, wall_s > 0 ? time / wall_s : 0.0);
  if (s.end == RunEnd::Interrupted) run += "; " + out.paint("33", "interrupted");
  if (s.end == RunEnd::Failed) run += "; " + out.paint("1;31", "FAILED");
  out.line("run", run);
  if (s.resumed)
    out.line("", print_text("resumed from %s at t = %g s (step %lld); all counts begin there", s.resumed->file.c_str(),
                            s.resumed->time, static_cast<long long>(s.resumed->step)));
  out.line("step", print_text("%.3g ms mean, %.3g median, %.3g p99, %.3g max", 1e3 * times.mean, 1e3 * times.median,
                              1e3 * times.p99, 1e3 * times.max));
  if (options.accuracy > 0)
    out.line("accuracy",
             print_text("%g m per second asked: %s, %d rejected, the shortest %.3g s; estimated error %.3g m",
                        options.accuracy, count(s.pace.parts, "part").c_str(), s.pace.rejected, s.pace.shortest,
                        s.pace.error) +
                 (s.pace.coarse > 0
                      ? out.paint("33", print_text("; %d parts as short as can be and not good enough", s.pace.coarse))
                      : ""));
  if (s.realtime) add_realtime(*s.realtime, s.steps, &out);
  out.line("phases", make_phases(s));
  out.line("contacts",
           print_text("%.1f mean, %d max, %.0f %% warm; problem of %.1f rows mean, %d max", s.contacts_sum / steps,
                      s.contacts_max, s.contacts_sum > 0 ? 100 * s.warm_contacts_sum / s.contacts_sum : 0,
                      s.rows_sum / steps, s.rows_max));
  if (options.reduce_contacts) out.line("", print_text("reduced from %.1f found", s.found_contacts_sum / steps));
  if (s.arbitrary > 0)
    out.line("", out.paint("33", print_text("%ld of %.0f contact forces are arbitrary", s.arbitrary, s.contacts_sum)) +
                     ": others give the same motion, and those of equal springs were not found");
  if (options.hold_resting)
    out.line("held", print_text("%ld of %ld islands kept the last impulses", s.held, s.islands));
  add_certificate(s, options, &out);
  out.line("geometry", print_text("worst penetration %.3g m (%.3g at the end), worst joint error %.3g (%.3g)",
                                  s.penetration_max, s.penetration_final, s.joint_error_max, s.joint_error_final));
  add_energy(s, simulation.energy(), &out);
  add_health(s.health, &out);
  return out.text();
}

}  // namespace slipstick
