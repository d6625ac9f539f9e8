// The extension module slipstick._engine. People use the package around it (python/slipstick).
#include "boxes.h"

PYBIND11_MODULE(_engine, module) {
  module.doc() = "The engine behind the package slipstick.";
  slipstick::python::bind_scene(&module);
  slipstick::python::bind_problem(&module);
  slipstick::python::bind_report(&module);
  slipstick::python::bind_simulation(&module);
  slipstick::python::bind_run(&module);
  slipstick::python::bind_rollout(&module);
}
