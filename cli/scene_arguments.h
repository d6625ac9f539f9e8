// From a command line to a scene that is ready to run.
#pragma once

#include "commands.h"

#include <slipstick/scene.h>

#include <optional>

namespace slipstick {
struct ImportReport;
}

/// Reads the scene and puts the command line's options in; says every fault on stderr and returns nothing if there is
/// one.
std::optional<slipstick::Scene> load(const char* command, const SceneArguments& scene,
                                     const SimulationArguments& simulation, slipstick::ImportReport* report = nullptr);

/// The same without a word: the faults are the answer.
std::optional<slipstick::Scene> load(const SceneArguments& scene, const SimulationArguments& simulation,
                                     slipstick::Faults* faults);

/// "1/60" to a number; `fault` says what is wrong with it.
std::optional<double> read_expression(const char* option, const std::string& text, std::string* fault);
