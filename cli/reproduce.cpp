#include "study_arguments.h"

#include <slipstick/app/reproduce.h>

int reproduce(const ReproduceArguments& arguments) {
  return run_studies<slipstick::Reproduction>(
      {"reproduce", "experiment", slipstick::experiment_names(), slipstick::reproduce_experiment,
       slipstick::make_reproduction_text, slipstick::make_reproduction_json, slipstick::save_reproduction},
      arguments);
}
