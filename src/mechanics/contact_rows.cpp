// Rows of contacts: relative velocity of the two surface points along the normal and the tangents.
#include <cmath>

#include "mechanics/equations.h"
#include "mechanics/rows.h"

namespace slipstick {
namespace {

void update_directions(const Vec3& normal, bool planar, ContactRows* rows) {
  constexpr double kCos25 = 0.90630778703664996;
  rows->direction[0] = normal;
  if (planar) {
    rows->direction[1] = Vec3(-normal.y(), normal.x(), 0);  // z x n
    rows->direction[2].setZero();
    return;
  }
  const int axis = std::abs(normal.x()) < kCos25 ? 0 : 1;
  rows->direction[1] = (Vec3::Unit(axis) - normal[axis] * normal).normalized();
  rows->direction[2] = normal.cross(rows->direction[1]);
}

/// [METHODS 0] for all directions of one side, written in place: sign * (e, R^T (arm x e)).
void update_half_rows(const Side& side, const Vec3& point, double sign, Vec6 PairRow::*half, ContactRows* rows) {
  if (!side.moves) {
    for (PairRow& row : rows->row) (row.*half).setZero();
    return;
  }
  const Vec3 arm = sign * (point - side.position);
  for (int k = 0; k < rows->count; ++k) {
    const Vec3& e = rows->direction[k];
    Vec6& row = rows->row[k].*half;
    row.head<3>() = sign * e;
    row.tail<3>().noalias() = side.rotation.transpose() * arm.cross(e);
  }
}

}  // namespace

void update_contact_rows(const Model& model, std::span<const Pose> pose, const ContactSet& contacts,
                         std::vector<ContactRows>* rows) {
  rows->resize(contacts.contacts.size());
  Side a(pose, kWorld), b(pose, kWorld);
  int body_a = kWorld, body_b = kWorld;  // of the sides in hand: the contacts of one pair come one after the other
  for (std::size_t i = 0; i < contacts.contacts.size(); ++i) {
    const Contact& contact = contacts.contacts[i];
    ContactRows& out = (*rows)[i];
    const PairLaw& law = model.pair_law(contact.material_a, contact.material_b);
    out.contact = static_cast<int>(i);
    out.body_a = contact.body_a;
    out.body_b = contact.body_b;
    out.gap = contact.gap;
    out.friction = law.friction;
    out.restitution = law.restitution;
    out.count = model.planar ? 2 : 3;
    update_directions(contact.normal, model.planar, &out);
    if (contact.body_a != body_a) a = Side(pose, body_a = contact.body_a);
    if (contact.body_b != body_b) b = Side(pose, body_b = contact.body_b);
    update_half_rows(a, contact.point_a, -1, &PairRow::a, &out);
    update_half_rows(b, contact.point_b, 1, &PairRow::b, &out);
    if (model.planar) out.row[2] = PairRow{};
  }
}

}  // namespace slipstick
