#include "record/record_parts.h"

#include <algorithm>
#include <array>

#include "record/record_hdf5.h"

namespace slipstick {

namespace {

void push_vec3(const Vec3& v, RecordColumn<double>* column) { column->push(std::span<const double>(v.data(), 3)); }

void push_poses(const std::vector<Pose>& poses, RecordColumn<double>* column) {
  for (const Pose& pose : poses) {
    push_vec3(pose.position, column);
    const Quat& q = pose.orientation;
    column->push(std::array<double, 4>{q.w(), q.x(), q.y(), q.z()});
  }
}

/// Velocities are kept with the angular one in the axes of the pose that they belong to.
void push_velocities(const std::vector<Twist>& velocities, const std::vector<Pose>& poses,
                     RecordColumn<double>* column) {
  for (std::size_t i = 0; i < velocities.size(); ++i) {
    push_vec3(velocities[i].linear, column);
    push_vec3(poses[i].orientation * velocities[i].angular, column);
  }
}

void push_impulse(const PartImpulse& impulse, RecordColumn<double>* column) {
  push_vec3(impulse.force, column);
  push_vec3(impulse.moment, column);
}

template <std::size_t N>
std::vector<double> flatten(const std::vector<std::array<double, N>>& rows) {
  std::vector<double> flat;
  for (const auto& row : rows) flat.insert(flat.end(), row.begin(), row.end());
  return flat;
}

std::vector<std::int32_t> flatten(const std::vector<std::array<std::int32_t, 2>>& rows) {
  std::vector<std::int32_t> flat;
  for (const auto& row : rows) flat.insert(flat.end(), row.begin(), row.end());
  return flat;
}

}  // namespace

void add_check_data(const RecordHeader& header, Hdf5File* file) {
  const std::size_t nb = header.bodies.size();
  file->add_table<double>("/bodies/inertia", {nb, 3, 3}, flatten(header.inertia));
  file->add_table<double>("/bodies/gravity_scale", {nb}, header.gravity_scale);
  file->add_table<double>("/bodies/free_basis", {nb, 6, 6}, flatten(header.free_basis));
  file->add_table<std::int32_t>("/bodies/group", {nb}, header.groups);
  file->add_table<std::int32_t>("/bodies/pairs_without_contact", {header.pairs_without_contact.size(), 2},
                                flatten(header.pairs_without_contact));
  file->add_table<std::int32_t>("/shapes/filter", {header.filters.size(), 2}, flatten(header.filters));
  file->add_table<double>("/links/compliance", {header.compliance.size()}, header.compliance);
  file->add_attribute("/", "alpha", header.alpha);
  file->add_attribute("/", "gamma", header.gamma);
  file->add_attribute("/", "interpolated", static_cast<std::int64_t>(header.interpolated));
  file->add_attribute("/", "friction_model", header.friction_model);
  file->add_attribute("/", "friction_by_slip", static_cast<std::int64_t>(header.friction_by_slip));
}

void PartColumns::open(const RecordHeader& header, Hdf5File* file) {
  const std::size_t nb = header.bodies.size(), n = 4 * header.expected_frames;  // parts, impacts among them
  const auto open = [&](const char* name, auto* column, const std::vector<std::size_t>& shape) {
    std::size_t bytes = 8;
    for (const std::size_t size : shape) bytes *= size;
    column->open(std::string("/parts/") + name, shape, calc_chunk_rows(bytes, n), file);
  };
  file->add_group("/parts");
  std::vector<std::string> kinds;
  for (int kind = 0; kind < kPartKinds; ++kind) kinds.emplace_back(name_of(static_cast<PartKind>(kind)));
  file->add_attribute("/parts", "kinds", kinds);
  open("offset", &offset_, {});
  open("kind", &kind_, {});
  open("time", &time_, {});
  open("length", &length_, {});
  open("pose_before", &before_.pose, {nb, 7});
  open("pose_after", &after_.pose, {nb, 7});
  open("velocity_before", &before_.velocity, {nb, 6});
  open("velocity_after", &after_.velocity, {nb, 6});
  open("velocity_solved", &solved_, {nb, 6});
  open("gravity", &gravity_, {nb, 6});
  open("load", &load_, {nb, 6});
  open("lock", &lock_, {nb, 6});
  open("added", &added_, {nb, 3});
  file->add_group("/parts/contacts");
  open("contacts/offset", &contact_offset_, {});
  for (const auto& [name, column] :
       {std::pair{"contacts/a", &a_}, std::pair{"contacts/b", &b_}, std::pair{"contacts/shape_a", &shape_a_},
        std::pair{"contacts/shape_b", &shape_b_}})
    open(name, column, {});
  open("contacts/kind", &contact_kind_, {});
  for (const auto& [name, column] : {std::pair{"contacts/point_a", &point_a_}, std::pair{"contacts/point_b", &point_b_},
                                     std::pair{"contacts/normal", &normal_}, std::pair{"contacts/impulse", &impulse_},
                                     std::pair{"contacts/moment", &moment_}, std::pair{"contacts/belt", &belt_}})
    open(name, column, {3});
  open("contacts/gap", &gap_, {});
  open("contacts/friction", &friction_, {});
  open("contacts/asked", &asked_, {});
  open("contacts/time", &contact_time_, {});
  file->add_group("/parts/links");
  open("links/offset", &link_offset_, {});
  open("links/link", &link_, {});
  open("links/on_a", &on_a_, {6});
  open("links/on_b", &on_b_, {6});
  for (auto* column : {&offset_, &contact_offset_, &link_offset_}) column->push(0);
  write(file);
}

void PartColumns::push_contacts(const StepPart& part) {
  for (const PartContact& contact : part.contacts) {
    a_.push(contact.body_a);
    b_.push(contact.body_b);
    shape_a_.push(contact.shape_a);
    shape_b_.push(contact.shape_b);
    contact_kind_.push(static_cast<std::int8_t>((contact.central ? 1 : 0) + (contact.anisotropic ? 2 : 0) +
                                                (contact.foreseen ? 4 : 0) + (contact.at_end ? 8 : 0) +
                                                (contact.bent ? 16 : 0) + (contact.carried ? 32 : 0)));
    push_vec3(contact.point_a, &point_a_);
    push_vec3(contact.point_b, &point_b_);
    push_vec3(contact.normal, &normal_);
    push_vec3(contact.impulse, &impulse_);
    push_vec3(contact.moment, &moment_);
    push_vec3(contact.belt, &belt_);
    gap_.push(contact.gap);
    friction_.push(contact.friction);
    asked_.push(contact.asked);
    contact_time_.push(contact.time);
  }
  contacts_ += static_cast<std::int64_t>(part.contacts.size());
  contact_offset_.push(contacts_);
}

void PartColumns::push_links(const StepPart& part) {
  for (const PartLink& link : part.links) {
    link_.push(link.link);
    push_impulse(link.on_a, &on_a_);
    push_impulse(link.on_b, &on_b_);
  }
  links_ += static_cast<std::int64_t>(part.links.size());
  link_offset_.push(links_);
}

void PartColumns::push(std::span<const StepPart> parts) {
  for (const StepPart& part : parts) {
    kind_.push(static_cast<std::int8_t>(part.kind));
    time_.push(part.time);
    length_.push(part.length);
    push_poses(part.from, &before_.pose);
    push_poses(part.to, &after_.pose);
    push_velocities(part.before, part.from, &before_.velocity);
    push_velocities(part.after, part.to, &after_.velocity);
    push_velocities(part.solved, part.place, &solved_);
    for (const PartImpulse& impulse : part.gravity) push_impulse(impulse, &gravity_);
    for (const PartImpulse& impulse : part.load) push_impulse(impulse, &load_);
    for (const PartImpulse& impulse : part.lock) push_impulse(impulse, &lock_);
    for (const Vec3& moment : part.added) push_vec3(moment, &added_);
    push_contacts(part);
    push_links(part);
  }
  waiting_ += parts.size();
  parts_ += static_cast<std::int64_t>(parts.size());
  offset_.push(parts_);
}

template <class Visit>
void PartColumns::for_each(const Visit& visit) {
  for (auto* column : {&kind_, &contact_kind_}) visit(column);
  for (auto* column : {&a_, &b_, &shape_a_, &shape_b_, &link_}) visit(column);
  for (auto* column : {&time_, &length_}) visit(column);
  for (auto* column :
       {&point_a_, &point_b_, &normal_, &impulse_, &moment_, &belt_, &gap_, &friction_, &asked_, &contact_time_})
    visit(column);
  for (auto* column : {&on_a_, &on_b_}) visit(column);
  for (auto* column : {&contact_offset_, &link_offset_, &offset_}) visit(column);
}

void PartColumns::write(Hdf5File* file) {
  for (auto* column :
       {&before_.pose, &after_.pose, &before_.velocity, &after_.velocity, &solved_, &gravity_, &load_, &lock_, &added_})
    column->write(waiting_, file);
  for_each([&](auto* column) { column->write(file); });
  waiting_ = 0;
}

void PartColumns::close() {
  for (auto* column :
       {&before_.pose, &after_.pose, &before_.velocity, &after_.velocity, &solved_, &gravity_, &load_, &lock_, &added_})
    column->close();
  for_each([](auto* column) { column->close(); });
}

}  // namespace slipstick
