// Scenes, states and faults.
#include "boxes.h"

#include <slipstick/app/import.h>
#include <slipstick/state_file.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

namespace slipstick::python {

void raise(const char* type, const py::args& arguments) {
  const py::object made = py::module_::import("slipstick._errors").attr(type)(*arguments);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
  throw py::error_already_set();
}

void raise_scene_error(const Faults& faults) {
  py::list list;
  for (const Fault& fault : faults)
    list.append(py::make_tuple(fault.place.file, fault.place.line, fault.place.column, fault.message));
  raise("SceneError", py::make_tuple(list));
}

void raise_value_error(const std::string& message) { throw py::value_error(message); }

namespace {

py::object checksum_of(const py::object& bytes) { return py::module_::import("zlib").attr("crc32")(bytes); }

}  // namespace

py::tuple seal(const py::tuple& parts) {
  const py::object bytes = py::module_::import("pickle").attr("dumps")(parts);
  return py::make_tuple(bytes, checksum_of(bytes));
}

py::tuple unseal(const py::tuple& sealed, const char* what) {
  if (sealed.size() != 2 || !py::isinstance<py::bytes>(sealed[0]) || !checksum_of(sealed[0]).equal(sealed[1]))
    raise_value_error(std::string("not the pickle of ") + what + ": damaged, or of an older version");
  return py::module_::import("pickle").attr("loads")(sealed[0]);
}

Vec3 as_vec3(const py::handle& value, const char* what) {
  const auto array = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(value);
  if (!array) PyErr_Clear();
  if (!array || array.ndim() != 1 || array.size() != 3)
    raise_value_error(std::string(what) + " must be three numbers, like (0, 0, 10)");
  const Vec3 made(array.data()[0], array.data()[1], array.data()[2]);
  if (!made.allFinite()) raise_value_error(std::string(what) + " has a number that is not finite");
  return made;
}

std::shared_ptr<const StateFrames> make_frames(const SceneBox& box) {
  auto frames = std::make_shared<StateFrames>();
  frames->model_hash = box.model_hash;
  frames->model_name = box.scene.name;
  for (const Body& body : box.scene.model.bodies) frames->centers.push_back(body.center_of_mass);
  return frames;
}

namespace {

std::string as_hex(std::uint64_t value) {
  std::array<char, 17> hex{};
  std::snprintf(hex.data(), hex.size(), "%016llx", static_cast<unsigned long long>(value));
  return hex.data();
}

std::shared_ptr<SceneBox> unbox(Result<Scene> scene) {
  if (!scene) raise_scene_error(scene.faults());
  return std::make_shared<SceneBox>(std::move(scene).value());
}

SceneLoadOptions make_load_options(const std::map<std::string, std::string>& set, bool allow_path, int max_bodies) {
  SceneLoadOptions options;
  options.set.assign(set.begin(), set.end());
  options.allow_path = allow_path;
  options.max_bodies = max_bodies;
  return options;
}

/// What is said about a model of another program; keys as in slipstick.load.
ImportOptions make_import_options(const std::map<std::string, std::string>& model) {
  const auto is = [&](const char* key, const char* value) {
    const auto found = model.find(key);
    return found != model.end() && found->second == value;
  };
  ImportOptions options;
  options.mesh = is("mesh", "exact") ? MeshUse::Exact : MeshUse::Hull;
  options.free_base = is("base", "free");
  options.floor = is("floor", "yes");
  options.repair_inertia = is("repair_inertia", "yes");
  if (const auto key = model.find("key"); key != model.end()) options.key = key->second;
  return options;
}

std::vector<std::string> motor_names(const Model& model) {
  std::vector<int> count(model.joints.size(), 0);
  for (const Axis& axis : model.axes) count[axis.joint] += axis.motor ? 1 : 0;
  std::vector<std::string> names;
  for (const Axis& axis : model.axes) {
    if (!axis.motor) continue;
    const std::string& joint = model.joints[axis.joint].name;
    names.push_back(count[axis.joint] == 1 ? joint : joint + "." + std::string(name_of(axis.freedom)));
  }
  return names;
}

/// All numbers of the state that decide its future, as bytes: what states are compared by.
std::string make_identity(const State& state) {
  State copy = state;
  copy.idle_axis.clear();
  return make_state_bytes(copy);
}

/// One vector per body, of the body's own frame.
template <int kWidth, class Write>
py::array_t<double> make_body_array(const StateBox& box, const Write& write) {
  py::array_t<double> made({static_cast<py::ssize_t>(box.state.pose.size()), static_cast<py::ssize_t>(kWidth)});
  Body body;
  for (std::size_t i = 0; i < box.state.pose.size(); ++i) {
    body.center_of_mass = box.frames->centers[i];
    write(calc_world_motion(body, box.state.pose[i], box.state.velocity[i]), made.mutable_data(i, 0));
  }
  return made;
}

void write_vector(const Vec3& v, double* out) { std::copy(v.data(), v.data() + 3, out); }

py::tuple as_tuple(const StateBox& box) {
  py::list centers;
  for (const Vec3& c : box.frames->centers) centers.append(py::make_tuple(c.x(), c.y(), c.z()));
  return seal(
      py::make_tuple(py::bytes(make_state_bytes(box.state)), box.frames->model_hash, box.frames->model_name, centers));
}

StateBox from_tuple(const py::tuple& sealed) {
  const py::tuple parts = unseal(sealed, "a state");
  Result<State> state = read_state_bytes(parts[0].cast<std::string>());
  if (!state) raise_value_error(state.faults().front().text());
  auto frames = std::make_shared<StateFrames>();
  frames->model_hash = parts[1].cast<std::uint64_t>();
  frames->model_name = parts[2].cast<std::string>();
  for (const py::handle c : parts[3]) frames->centers.push_back(as_vec3(c, "a centre of mass"));
  if (frames->centers.size() != state->pose.size())
    raise_value_error("the state has no centres of mass for its bodies");
  return {std::move(state).value(), frames};
}

void bind_state(py::module_* module) {
  py::class_<StateBox>(*module, "State")
      .def_property_readonly(
          "time", [](const StateBox& s) { return s.state.time; }, "Simulated time, s.")
      .def_property_readonly(
          "step", [](const StateBox& s) { return s.state.step; }, "Steps made since t = 0.")
      .def_property_readonly(
          "hash", [](const StateBox& s) { return as_hex(hash(s.state)); },
          "A digest of all that decides the future, as text: `state_hash` of reports.")
      .def_property_readonly(
          "position",
          [](const StateBox& s) {
            return make_body_array<3>(s, [](const WorldMotion& m, double* out) { write_vector(m.pose.position, out); });
          },
          "(bodies, 3), m: origins of the bodies' own frames in the world. A copy.")
      .def_property_readonly(
          "orientation",
          [](const StateBox& s) {
            return make_body_array<4>(s, [](const WorldMotion& m, double* out) {
              const Quat& q = m.pose.orientation;
              out[0] = q.w(), out[1] = q.x(), out[2] = q.y(), out[3] = q.z();
            });
          },
          "(bodies, 4): quaternions w, x, y, z from body to world. A copy.")
      .def_property_readonly(
          "velocity",
          [](const StateBox& s) {
            return make_body_array<3>(s, [](const WorldMotion& m, double* out) { write_vector(m.velocity, out); });
          },
          "(bodies, 3), m/s: of the origins of the bodies' frames, world axes. A copy.")
      .def_property_readonly(
          "angular_velocity",
          [](const StateBox& s) {
            return make_body_array<3>(s,
                                      [](const WorldMotion& m, double* out) { write_vector(m.angular_velocity, out); });
          },
          "(bodies, 3), rad/s, world axes. A copy.")
      .def("__hash__", [](const StateBox& s) { return hash(s.state); })
      .def("__eq__",
           [](const StateBox& s, const py::object& other) -> py::object {
             if (!py::isinstance<StateBox>(other)) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
             const auto& o = other.cast<const StateBox&>();
             return py::bool_(make_identity(s.state) == make_identity(o.state));
           })
      .def("__copy__", [](const StateBox& s) { return s; })
      .def("__deepcopy__", [](const StateBox& s, const py::dict&) { return s; })
      .def("__repr__",
           [](const StateBox& s) {
             return "<slipstick.State of '" + s.frames->model_name +
                    "' at t = " + py::str(py::float_(s.state.time)).cast<std::string>() + " s, " +
                    as_hex(hash(s.state)) + ">";
           })
      .def(py::pickle(&as_tuple, &from_tuple));
}

}  // namespace

SimulationOptions make_options(const SceneBox& box, const std::string& simulation,
                               const std::vector<std::string>& keys) {
  SimulationOptions made = box.scene.options;
  if (keys.empty()) return made;
  // The reader of scene files knows every option, its range and its nearest name.
  const Result<Scene> read = parse_scene("slipstick: 1\nbodies: []\nsimulation: " + simulation + "\n", "Simulation");
  if (!read) {
    Faults faults = read.faults();
    for (Fault& fault : faults) fault.place = {};
    raise_scene_error(faults);
  }
  const SimulationOptions& from = read->options;
  for (const std::string& key : keys) {
    if (key == "step") made.step = from.step;
    if (key == "duration") made.duration = from.duration;
    if (key == "tolerance") made.tolerance = from.tolerance;
    if (key == "heap_tolerance") made.heap_tolerance = from.heap_tolerance;
    if (key == "threads") made.threads = from.threads;
    if (key == "effort") made.effort = from.effort;
    if (key == "budget") made.budget = from.budget;
    if (key == "impact") made.impact = from.impact;
    if (key == "reduce_contacts") made.reduce_contacts = from.reduce_contacts;
    if (key == "close_joints") made.close_joints = from.close_joints;
    if (key == "hold_resting") made.hold_resting = from.hold_resting;
    if (key == "accuracy") made.accuracy = from.accuracy;
    if (key == "unique_forces") made.unique_forces = from.unique_forces;
    if (key == "friction") made.friction = from.friction, made.facets = from.facets;
    if (key == "solver") made.solver = from.solver, made.solver_options = from.solver_options;
    if (key == "scheme") {
      made.scheme = from.scheme;
      made.alpha_gamma = from.alpha_gamma;
      made.spook = from.spook;
      made.stabilization = from.stabilization;
      made.impact_stage = from.impact_stage;
      made.restitution_threshold = from.restitution_threshold;
      made.locate = from.locate;
    }
  }
  const auto is_given = [&](const char* key) { return std::find(keys.begin(), keys.end(), key) != keys.end(); };
  if (is_given("accuracy") && !is_given("scheme")) set_accuracy(made.accuracy, &made);
  Faults faults;
  for (const OptionFault& fault : find_option_faults(made)) faults.push_back({{}, fault.message});
  if (!faults.empty()) raise_scene_error(faults);
  return made;
}

void bind_scene(py::module_* module) {
  bind_state(module);
  py::class_<SceneBox, std::shared_ptr<SceneBox>>(*module, "SceneBox")
      .def_property_readonly("name", [](const SceneBox& s) { return s.scene.name; })
      .def_property_readonly("path", [](const SceneBox& s) { return s.scene.path; })
      .def_property_readonly("text", [](const SceneBox& s) { return s.scene.text; })
      .def_property_readonly("files", [](const SceneBox& s) { return s.scene.files; })
      .def_property_readonly("model_hash", [](const SceneBox& s) { return as_hex(s.model_hash); })
      .def_property_readonly("step", [](const SceneBox& s) { return s.scene.options.step; })
      .def_property_readonly("duration", [](const SceneBox& s) { return s.scene.options.duration; })
      .def_property_readonly("scheme", [](const SceneBox& s) { return s.scene.options.scheme; })
      .def_property_readonly("solver", [](const SceneBox& s) { return s.scene.options.solver; })
      .def_property_readonly("planar", [](const SceneBox& s) { return s.scene.model.planar; })
      .def_property_readonly("gravity",
                             [](const SceneBox& s) {
                               const Vec3& g = s.scene.model.gravity;
                               return std::array<double, 3>{g.x(), g.y(), g.z()};
                             })
      .def_property_readonly("bodies",
                             [](const SceneBox& s) {
                               std::vector<std::string> names;
                               for (const Body& body : s.scene.model.bodies) names.push_back(body.name);
                               return names;
                             })
      .def_property_readonly("joints",
                             [](const SceneBox& s) {
                               std::vector<std::string> names;
                               for (const Joint& joint : s.scene.model.joints) names.push_back(joint.name);
                               return names;
                             })
      .def_property_readonly("sensors",
                             [](const SceneBox& s) {
                               std::vector<std::tuple<std::string, int, int>> found;
                               const Model& model = s.scene.model;
                               for (std::size_t i = model.readings; i < model.sensors.size(); ++i)
                                 found.emplace_back(model.sensors[i].name, model.sensors[i].first - model.readings,
                                                    model.sensors[i].count);
                               return found;
                             })
      .def_property_readonly("motors", [](const SceneBox& s) { return motor_names(s.scene.model); })
      .def_property_readonly("loads",
                             [](const SceneBox& s) {
                               std::vector<std::string> names;
                               for (const Load& load : s.scene.model.loads) names.push_back(load.name);
                               return names;
                             })
      .def_property_readonly("mass",
                             [](const SceneBox& s) {
                               std::vector<double> masses;
                               for (const Body& body : s.scene.model.bodies) masses.push_back(body.mass);
                               return masses;
                             })
      .def_property_readonly("initial",
                             [](const SceneBox& s) {
                               return StateBox{s.scene.initial, make_frames(s)};
                             })
      .def("renamed", [](const SceneBox& s, const std::string& path, const std::vector<std::string>& files) {
        Scene copy = s.scene;
        copy.path = path;
        copy.files = files;
        return std::make_shared<SceneBox>(std::move(copy));
      });
  module->def("load_scene", [](const std::string& path, const std::map<std::string, std::string>& set, bool allow_path,
                               int max_bodies, const std::map<std::string, std::string>& model) {
    ImportOptions options = make_import_options(model);
    options.files = make_load_options(set, allow_path, max_bodies);
    return unbox(load_any(path, options));
  });
  module->def("parse_scene", [](const std::string& text, const std::string& name,
                                const std::map<std::string, std::string>& set, bool allow_path, int max_bodies) {
    return unbox(parse_scene(text, name, make_load_options(set, allow_path, max_bodies)));
  });
  module->def("version", [] { return version(); });
  module->def("scheme_names", [] { return scheme_names(); });
  module->def("solver_names", [] { return solver_choices(); });
}

}  // namespace slipstick::python
