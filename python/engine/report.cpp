// What a step says about itself.
#include "boxes.h"

namespace slipstick::python {

namespace {

NumberDict as_dict(const EnergyLedger& ledger) {
  NumberDict made;
  made["change"] = ledger.change;
  made["load"] = ledger.load;
  made["kinematic"] = ledger.kinematic;
  made["motor"] = ledger.motor;
  made["damping"] = ledger.damping;
  made["friction"] = ledger.friction;
  made["impact"] = ledger.impact;
  made["numerical"] = ledger.numerical;
  made["correction"] = ledger.correction;
  return made;
}

NumberDict as_dict(const PhaseTimes& seconds) {
  NumberDict made;
  made["collision"] = seconds.collision;
  made["assemble"] = seconds.assemble;
  made["solve"] = seconds.solve;
  made["advance"] = seconds.advance;
  return made;
}

}  // namespace

void bind_report(py::module_* module) {
  py::class_<StepReport>(*module, "StepReport")
      .def_readonly("certified", &StepReport::certified,
                    "The answer obeys the law within the tolerance, by the judge that all solvers have.")
      .def_property_readonly(
          "grade", [](const StepReport& r) { return std::string(name_of(r.grade())); },
          "'exact': to `tolerance`; 'heap': to `heap_tolerance`; 'not certified'.")
      .def_property_readonly(
          "relaxed", [](const StepReport& r) { return std::string(r.relaxed); },
          "What was left out of the law to find an answer; empty: nothing.")
      .def_property_readonly(
          "residual", [](const StepReport& r) { return r.certificate.residual.natural; },
          "The largest entry of the natural map, m/s: how far the step is from the law.")
      .def_property_readonly(
          "relative_residual", [](const StepReport& r) { return r.certificate.residual.relative; },
          "The norm of the natural map over that of the free velocities of the rows.")
      .def_property_readonly(
          "penetration", [](const StepReport& r) { return r.certificate.penetration; },
          "How deep bodies are in each other at the end of the step, from the geometry, m.")
      .def_property_readonly(
          "joint_error", [](const StepReport& r) { return r.certificate.joint_error; },
          "How far joints are from closed at the end of the step, m or rad.")
      .def_property_readonly(
          "ledger", [](const StepReport& r) { return as_dict(r.certificate.ledger); },
          "Where the energy went in this step, J: change, and by cause load, kinematic, motor, damping, friction, "
          "impact, numerical, correction.")
      .def_property_readonly(
          "seconds", [](const StepReport& r) { return as_dict(r.seconds); },
          "Wall time of the step, s: collision, assemble, solve, advance.")
      .def_readonly("failed", &StepReport::failed,
                    "There was no finite answer and the step was not made (Diverged carries such a report).")
      .def_readonly("heap", &StepReport::heap, "A part was judged by the tolerance of heaps (docs/solvers.md).")
      .def_readonly("iterations", &StepReport::iterations,
                    "Of all solvers that were asked: pivots, Newton steps, sweeps.")
      .def_readonly("escalations", &StepReport::escalations,
                    "Times that another solver had to be asked, or the problem relaxed.")
      .def_readonly("settled", &StepReport::settled, "Finished short of the tolerance, as `effort` allows.")
      .def_readonly("work", &StepReport::work, "What the solvers spent, in row operations.")
      .def_readonly("not_unique", &StepReport::not_unique,
                    "Contacts whose force is not the only one that solves the step (docs/certificate.md).")
      .def_readonly("arbitrary", &StepReport::arbitrary,
                    "Of these: as the solver found them, not those of equal springs.")
      .def_readonly("divisions", &StepReport::divisions, "Parts of the step that end because something fast is near.")
      .def_property_readonly(
          "parts", [](const StepReport& r) { return r.pace.parts; },
          "With `accuracy`: parts that the step was made of.")
      .def_property_readonly(
          "rejected", [](const StepReport& r) { return r.pace.rejected; }, "With `accuracy`: parts that were too long.")
      .def_property_readonly(
          "estimated_error", [](const StepReport& r) { return r.pace.error; },
          "With `accuracy`: what the step is estimated to add to the error of the worst body, m.")
      .def_readonly("events", &StepReport::events, "Impacts, take-offs, sticks and slips inside the step.")
      .def_readonly("contacts", &StepReport::contacts, "Contacts that took part.")
      .def_readonly("rows", &StepReport::rows, "Rows of the last problem.")
      .def_readonly("islands", &StepReport::islands, "Groups of touching bodies that were solved, each by itself.")
      .def_property_readonly(
          "note", [](const StepReport& r) { return std::string(r.note); }, "Why it is not certified; empty: it is.")
      .def("__repr__", [](const StepReport& r) {
        return std::string("<slipstick.StepReport ") + (r.certified ? "certified" : "not certified") + ", residual " +
               py::str(py::float_(r.certificate.residual.natural)).cast<std::string>() + " m/s, " +
               std::to_string(r.contacts) + " contacts" + (r.note.empty() ? "" : ", " + std::string(r.note)) + ">";
      });
}

}  // namespace slipstick::python
