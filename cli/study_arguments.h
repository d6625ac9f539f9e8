// What `reproduce` and `verify` share: which of their studies are meant, on which scenes, and where the page goes.
#pragma once

#include "commands.h"

/// Names to run and the folder of the shipped scenes; nothing, and the user told, if the arguments cannot be used.
struct StudySelection {
  std::vector<std::string> names;
  std::string scenes;
};
std::optional<StudySelection> select_studies(const char* command, const char* what, const ReproduceArguments& arguments,
                                             std::vector<std::string> known);
