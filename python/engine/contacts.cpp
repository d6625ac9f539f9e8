// Contacts as a structured array.
#include <algorithm>
#include <numeric>

#include "boxes.h"

namespace slipstick::python {

namespace {

struct ContactRow {
  std::int32_t a, b;
  double point[3], normal[3];
  double gap;
  double force[3];
  std::uint8_t unique;
};

ContactRow make_row(const Contact& contact, const Vec3& force, Uniqueness uniqueness) {
  ContactRow row{};
  row.a = contact.body_a;
  row.b = contact.body_b;
  const Vec3 point = 0.5 * (contact.point_a + contact.point_b);
  for (int k = 0; k < 3; ++k) {
    row.point[k] = point[k];
    row.normal[k] = contact.normal[k];
    row.force[k] = force[k];
  }
  row.gap = contact.gap;
  row.unique = static_cast<std::uint8_t>(uniqueness);
  return row;
}

/// Contacts of the present state with the force that they had in the last step; those that carried a force and are no
/// longer near follow, so that no force is lost.
py::array_t<ContactRow> make_contacts(const Core& core) {
  core.check_idle();
  const Simulation& simulation = core.simulation();
  const auto forces = simulation.contact_forces();
  std::vector<std::size_t> by_key(forces.size());
  std::iota(by_key.begin(), by_key.end(), std::size_t{0});
  std::stable_sort(by_key.begin(), by_key.end(),
                   [&](std::size_t i, std::size_t k) { return forces[i].contact.key < forces[k].contact.key; });
  std::vector<char> used(forces.size(), 0);
  std::vector<ContactRow> rows;
  for (const Contact& contact : simulation.contacts()) {
    Vec3 force = Vec3::Zero();
    Uniqueness uniqueness = Uniqueness::Unique;  // of what carries nothing
    auto found = std::lower_bound(by_key.begin(), by_key.end(), contact.key,
                                  [&](std::size_t i, const ContactKey& key) { return forces[i].contact.key < key; });
    for (; found != by_key.end() && forces[*found].contact.key == contact.key; ++found) {
      if (used[*found] || forces[*found].contact.limit >= 0) continue;
      force += forces[*found].force;
      uniqueness = forces[*found].uniqueness;
      used[*found] = 1;
    }
    rows.push_back(make_row(contact, force, uniqueness));
  }
  for (std::size_t k = 0; k < forces.size(); ++k)
    if (!used[k] && forces[k].contact.limit < 0)
      rows.push_back(make_row(forces[k].contact, forces[k].force, forces[k].uniqueness));
  return py::array_t<ContactRow>(static_cast<py::ssize_t>(rows.size()), rows.data());
}

}  // namespace

void bind_contacts(CoreClass* type) {
  PYBIND11_NUMPY_DTYPE(ContactRow, a, b, point, normal, gap, force, unique);
  type->def("contacts", &make_contacts);
}

}  // namespace slipstick::python
