// From scenes and simulations to the plain data of a recording.
#include <slipstick/app/recording.h>
#include <slipstick/surface.h>
#include <slipstick/version.h>

#include "base/hash.h"
#include "record/record_frames.h"
#include "record/record_reader.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>

namespace slipstick {

namespace {

std::array<double, 3> as_array(const Vec3& v) { return {v.x(), v.y(), v.z()}; }

std::array<double, 7> as_array(const Pose& pose) {
  const Quat& q = pose.orientation;
  return {pose.position.x(), pose.position.y(), pose.position.z(), q.w(), q.x(), q.y(), q.z()};
}

std::string calc_text_hash(const std::string& text) {
  Digest digest;
  for (const char c : text) digest.add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
  char hex[17];
  std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(digest.value()));
  return hex;
}

/// A plane's own frame has the outward normal as z; for a viewer that is its pose.
Pose calc_shape_pose(const ShapeDescription& shape) {
  Pose pose = shape.pose;
  if (shape.kind != ShapeKind::Plane) return pose;
  const double length = shape.normal.norm();
  pose.position += pose.orientation * (shape.normal * (shape.offset / (length * length)));
  pose.orientation = pose.orientation * Quat::FromTwoVectors(Vec3::UnitZ(), shape.normal);
  return pose;
}

/// Corners and triangles of a hull: each face as a fan.
void add_hull(const ShapeDescription& given, RecordShape* shape) {
  const Hull hull = make_hull(given.vertices).hull;
  for (const Vec3& p : hull.vertices) shape->vertices.push_back({p.x(), p.y(), p.z()});
  for (const HullFace& face : hull.faces) {
    const int* const loop = hull.loops.data() + face.first;
    for (int k = 1; k + 1 < face.count; ++k) shape->triangles.push_back({loop[0], loop[k], loop[k + 1]});
  }
}

RecordShape make_shape(const ShapeDescription& given, int body) {
  RecordShape shape;
  shape.body = body;
  shape.kind = static_cast<int>(given.kind);
  shape.pose = as_array(calc_shape_pose(given));
  shape.size = as_array(given.size);
  shape.radius = given.radius;
  shape.length = given.length;
  for (const Vec2& p : given.points) shape.points.push_back({p.x(), p.y()});
  if (given.kind == ShapeKind::Hull) add_hull(given, &shape);
  if (given.surface) {
    for (const Vec3& p : given.surface->vertices) shape.vertices.push_back(as_array(p));
    shape.triangles.assign(given.surface->triangles.begin(), given.surface->triangles.end());
  }
  shape.color = given.color;
  shape.visual_only = given.visual_only;
  return shape;
}

/// Anchors of the model are seen from the centre of mass, those of the recording from the body's own frame.
template <class Link>
RecordLink make_link(const Model& model, const Link& link, int kind) {
  const auto anchor = [&](int body, const Vec3& point) {
    return as_array(body == kWorld ? point : Vec3(point + model.bodies[body].center_of_mass));
  };
  return {kind, link.name, link.a,       link.b, anchor(link.a, link.anchor_a), anchor(link.b, link.anchor_b),
          {},   0,         {-1, -1, -1}, {}};
}

/// The z axis of a joint's frame, where that means something.
std::array<double, 3> calc_axis(const Joint& joint) {
  using enum JointKind;
  for (const JointKind kind : {Ball, Fixed, Rod, Rope, Gear, Rack, Differential})
    if (joint.kind == kind) return {};
  if (joint.kind == Wheel) return as_array(joint.frame_a.col(0));
  return as_array(joint.frame_a.col(2));
}

/// Motors, and which joints gears tie together. `links` begin with the model's joints.
void add_drives(const Model& model, std::vector<RecordLink>* links) {
  for (const Axis& axis : model.axes) {
    if (!axis.motor) continue;
    int& motor = (*links)[static_cast<std::size_t>(axis.joint)].motor;
    if (motor == 0) motor = axis.motor->drives_force ? 3 : axis.motor->drives_position ? 2 : 1;
  }
  for (const Coupling& coupling : model.couplings) {
    RecordLink& link = (*links)[static_cast<std::size_t>(coupling.joint)];
    for (std::size_t k = 0; k < static_cast<std::size_t>(coupling.count); ++k) {
      const int joint = model.axes[static_cast<std::size_t>(coupling.term[k].axis)].joint;
      if (joint == coupling.joint) continue;  // a screw ties its own two
      link.couples[k] = joint;
      link.factors[k] = coupling.term[k].factor;
    }
  }
}

std::string_view name_of_friction(FrictionModel model) {
  return model == FrictionModel::Cone ? "cone" : model == FrictionModel::Pyramid ? "pyramid" : "box";
}

/// What whoever checks the parts must know of bodies, shapes and joints.
void note_check_data(const Scene& scene, RecordHeader* header) {
  const Model& model = scene.model;
  header->parts = true;
  for (const Body& body : model.bodies) {
    Eigen::Map<Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(header->inertia.emplace_back().data()) = body.inertia;
    header->gravity_scale.push_back(body.gravity_scale);
    header->groups.push_back(body.group);
    Eigen::Map<Eigen::Matrix<double, 6, 6, Eigen::RowMajor>> basis(header->free_basis.emplace_back().data());
    basis.setZero();
    basis.leftCols(body.dof) = body.free_basis().leftCols(body.dof);
  }
  for (const auto& pair : model.pairs_without_contact) header->pairs_without_contact.push_back({pair[0], pair[1]});
  for (const BodyDescription& body : scene.description.bodies)
    for (const ShapeDescription& shape : body.shapes)
      header->filters.push_back(
          {static_cast<std::int32_t>(shape.contype), static_cast<std::int32_t>(shape.conaffinity)});
  for (const Joint& joint : model.joints) header->compliance.push_back(joint.compliance);
  const bool family = scene.options.scheme == "alpha-gamma";
  header->alpha = calc_alpha(scene.options);
  header->gamma = family ? scene.options.alpha_gamma.gamma : header->alpha;
  header->interpolated = scene.options.alpha_gamma.event_state == EventState::Hermite;
  header->friction_model = name_of_friction(scene.options.friction);
  for (const PairLaw& law : model.pair_laws) header->friction_by_slip = header->friction_by_slip || law.by_slip;
}

RecordHeader make_header(const Scene& scene, const std::string& command) {
  RecordHeader header;
  header.scene_text = scene.text;
  header.scene_hash = calc_text_hash(scene.text);
  header.command = command;
  header.name = scene.name;
  header.scheme = scene.options.scheme;
  header.solver = make_solver_text(scene.options);
  header.software = "slipstick " + version();
  header.step = scene.options.step;
  header.duration = scene.options.duration;
  header.gravity = as_array(scene.model.gravity);
  header.planar = scene.model.planar;
  header.every = std::max(1, scene.record.every);
  header.contacts = scene.record.contacts;
  header.weighted = calc_alpha(scene.options) < 1;
  for (const Body& body : scene.model.bodies) {
    header.bodies.push_back(body.name);
    header.body_kinds.push_back(static_cast<std::int8_t>(body.kind));
    header.masses.push_back(body.mass);
    header.centers_of_mass.push_back(as_array(body.center_of_mass));
  }
  using enum ShapeKind;
  for (const ShapeKind kind :
       {Sphere, Box, Capsule, Plane, Disk, Polygon, Cylinder, Cone, Ellipsoid, Hull, Mesh, Heightfield})
    header.shape_kinds.emplace_back(name_of(kind));
  for (std::size_t i = 0; i < scene.description.bodies.size(); ++i)
    for (const ShapeDescription& shape : scene.description.bodies[i].shapes)
      header.shapes.push_back(make_shape(shape, static_cast<int>(i)));
  for (int kind = 0; kind < kJointKinds; ++kind) header.link_kinds.emplace_back(name_of(static_cast<JointKind>(kind)));
  header.link_kinds.emplace_back("spring");
  for (const Joint& joint : scene.model.joints) {
    header.links.push_back(make_link(scene.model, joint, static_cast<int>(joint.kind)));
    header.links.back().axis = calc_axis(joint);
    header.joints.push_back(joint.name);
  }
  add_drives(scene.model, &header.links);
  for (std::size_t i = scene.model.readings; i < scene.model.sensors.size(); ++i)
    for (const std::string& part : sensor_parts(scene.model.sensors[i]))
      header.sensors.push_back(scene.model.sensors[i].name + (part.empty() ? "" : "." + part));
  for (const Spring& spring : scene.model.springs)
    header.links.push_back(make_link(scene.model, spring, static_cast<int>(header.link_kinds.size()) - 1));
  if (scene.record.parts) note_check_data(scene, &header);
  const double frames = scene.options.duration / scene.options.step / header.every + 2;
  header.expected_frames = static_cast<std::size_t>(std::clamp(frames, 2.0, 1e9));
  return header;
}

}  // namespace

RecordHeader make_record_header(const Scene& scene, const std::string& command) { return make_header(scene, command); }

struct Recorder::Impl {
  explicit Impl(RecordWriter w) : writer(std::move(w)) {}

  RecordWriter writer;
  int every = 1;
  int steps_since_frame = 0;
  RecordFrames frames;
  StateFile state;  ///< all but the state itself stays
};

/// The worst of the certificates and the sum of the work since the last frame.
void RecordFrames::add_step(const Simulation& simulation, const StepReport& report) {
  const Certificate& c = report.certificate;
  frame.residual = std::max(frame.residual, c.residual.natural);
  frame.relative = std::max(frame.relative, c.residual.relative);
  frame.penetration = std::max(frame.penetration, c.penetration);
  frame.joint_error = std::max(frame.joint_error, c.joint_error);
  frame.iterations += report.iterations;
  frame.escalations += report.escalations;
  frame.grade = std::min(frame.grade, report.grade());
  dissipated -= c.ledger.damping + c.ledger.friction + c.ledger.impact + c.ledger.numerical;
  for (const Event& event : simulation.events())
    events.push_back({event.time, static_cast<int>(event.kind), event.body_a, event.body_b, event.normal_speed_before,
                      event.normal_speed_after});
}

void RecordFrames::update_frame(const Simulation& simulation) {
  const Model& model = simulation.model();
  const State& state = simulation.state();
  pose.clear();
  velocity.clear();
  velocity_weighted.clear();
  contacts.clear();
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const WorldMotion motion = calc_world_motion(model.bodies[i], state.pose[i], state.velocity[i]);
    const auto placed = as_array(motion.pose);
    pose.insert(pose.end(), placed.begin(), placed.end());
    velocity.insert(velocity.end(), motion.velocity.begin(), motion.velocity.end());
    velocity.insert(velocity.end(), motion.angular_velocity.begin(), motion.angular_velocity.end());
    const WorldMotion weighted = calc_world_motion(model.bodies[i], state.pose[i], simulation.weighted_velocity()[i]);
    velocity_weighted.insert(velocity_weighted.end(), weighted.velocity.begin(), weighted.velocity.end());
    velocity_weighted.insert(velocity_weighted.end(), weighted.angular_velocity.begin(),
                             weighted.angular_velocity.end());
  }
  for (const ContactForce& force : simulation.contact_forces()) {
    const Contact& contact = force.contact;
    contacts.push_back({contact.body_a, contact.body_b, as_array((contact.point_a + contact.point_b) / 2),
                        as_array(contact.normal), as_array(force.force * simulation.options().step), contact.gap,
                        force.friction, static_cast<int>(force.uniqueness)});
  }
  update_joints(simulation);
  sensor.assign(simulation.sensors().begin(), simulation.sensors().end());
  frame.sensor = sensor;
  const EnergySplit energy = simulation.energy();
  frame.time = state.time;
  frame.energy = {energy.kinetic, energy.potential, dissipated};
  frame.pose = pose;
  frame.velocity = velocity;
  frame.velocity_weighted = velocity_weighted;
  frame.contacts = contacts;
  frame.parts = simulation.parts();
  frame.events = events;
}

void RecordFrames::update_joints(const Simulation& simulation) {
  for (auto* column : {&joint_position, &joint_velocity, &joint_motor, &joint_reaction}) column->clear();
  for (const JointReading& joint : simulation.joints()) {
    joint_position.push_back(joint.position);
    joint_velocity.push_back(joint.velocity);
    joint_motor.push_back(joint.motor_force);
    joint_reaction.insert(joint_reaction.end(), joint.reaction_force.begin(), joint.reaction_force.end());
    joint_reaction.insert(joint_reaction.end(), joint.reaction_moment.begin(), joint.reaction_moment.end());
  }
  frame.joint_position = joint_position;
  frame.joint_velocity = joint_velocity;
  frame.joint_motor = joint_motor;
  frame.joint_reaction = joint_reaction;
}

Result<Recorder> Recorder::create(const std::string& path, const Scene& scene, const std::string& command,
                                  const std::optional<ResumePoint>& resumed) {
  RecordHeader header = make_header(scene, command);
  if (resumed) {
    header.start_step = resumed->step;
    header.resumed_from = resumed->file;
  }
  auto writer = RecordWriter::create(path, header);
  if (!writer) return writer.faults();
  auto impl = std::make_unique<Impl>(std::move(writer).value());
  impl->every = std::max(1, scene.record.every);
  impl->state = {{}, scene.model.name, hash(scene.model), make_settings_text(scene.options), hash(scene.initial)};
  return Recorder(std::move(impl));
}

Recorder::Recorder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Recorder::Recorder(Recorder&&) noexcept = default;
Recorder& Recorder::operator=(Recorder&& other) noexcept {
  if (this != &other) {
    if (impl_) impl_->writer.close();
    impl_ = std::move(other.impl_);
  }
  return *this;
}
Recorder::~Recorder() {
  if (impl_) impl_->writer.close();
}

bool Recorder::append(const Simulation& simulation, const StepReport* report) {
  if (report) {
    impl_->frames.add_step(simulation, *report);
    if (++impl_->steps_since_frame < impl_->every) return impl_->writer.error().empty();
  }
  impl_->steps_since_frame = 0;
  impl_->frames.update_frame(simulation);
  impl_->state.state = simulation.state();
  impl_->frames.frame.state = &impl_->state;
  const bool good = impl_->writer.append(impl_->frames.frame);
  impl_->frames.clear();
  return good;
}

bool Recorder::close() { return impl_->writer.close(); }
bool Recorder::close(RunEnd end) { return impl_->writer.close(std::string(name_of(end))); }
const std::string& Recorder::error() const { return impl_->writer.error(); }

std::string_view name_of(RunEnd end) {
  switch (end) {
    case RunEnd::Interrupted:
      return "interrupted";
    case RunEnd::Failed:
      return "failed";
    case RunEnd::Complete:
      break;
  }
  return "complete";
}

Result<StateFile> load_stored_state(const std::string& path) {
  constexpr std::string_view kHdf5 = "\x89HDF";
  char first[4] = {};
  std::ifstream(path, std::ios::binary).read(first, sizeof first);
  if (std::string_view(first, sizeof first) != kHdf5) return load_state_file(path);
  const auto reader = RecordReader::open(path);
  if (!reader) return reader.faults();
  return reader->read_last_state();
}

}  // namespace slipstick
