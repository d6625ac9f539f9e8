// Room: study. Problems with known answers, solved and held against them at a fixed step, with the observed order
// (docs/studies.md).
#pragma once

#include <slipstick/app/study.h>
#include <slipstick/result.h>

#include <optional>
#include <string>
#include <vector>

namespace slipstick {

struct VerifiedFigure {
  std::string quantity;
  double reference = 0, ours = 0;
  double error = 0, tolerance = 0;  ///< absolute
  std::optional<double> order;      ///< log2 of error(h)/error(h/2); nothing where the error is rounding
  double order_wanted = 0;          ///< 0: none
  bool ok() const;
};

struct Verification {
  std::string name, about;
  double step = 0;
  double accuracy = 0;  ///< asked for instead of a step; 0: fixed steps
  long parts = 0;       ///< taken, rejected ones included; of fixed steps those of the longer one
  std::vector<VerifiedFigure> figures;
  long steps = 0, uncertified = 0;
  std::string failure;  ///< a run that could not be finished, and why
  bool ok() const;
};

std::vector<std::string> known_problem_names();
/// Runs one problem with its step, or with another one, and with half of it. Faults: an unknown name, a scene that
/// cannot be read, an end that the monitor asked for.
Result<Verification> verify_problem(const std::string& name, const std::string& scenes,
                                    const StudyMonitor& monitor = {}, double step = 0);

/// The same once, with steps that choose themselves: errors up to ten times the accuracy, per metre, are right.
Result<Verification> verify_accuracy(const std::string& name, double accuracy, const std::string& scenes,
                                     const StudyMonitor& monitor = {});

std::string make_verification_text(const std::vector<Verification>& all);
std::string make_verification_json(const std::vector<Verification>& all);
/// verify.html in a folder that is made; it appears whole or not at all. Empty when good.
Faults save_verification(const std::string& folder, const std::vector<Verification>& all);

}  // namespace slipstick
