#include "study_arguments.h"

#include <slipstick/app/verify.h>

int verify(const ReproduceArguments& arguments) {
  return run_studies<slipstick::Verification>(
      {"verify", "problem", slipstick::known_problem_names(), slipstick::verify_problem,
       slipstick::make_verification_text, slipstick::make_verification_json, slipstick::save_verification},
      arguments);
}
