// The parts of `compile`, one file each, and what they share.
#pragma once

#include <slipstick/model.h>
#include <slipstick/state.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/fault_list.h"

namespace slipstick {

/// One compilation under way. Parts run in the order of the functions below; each reads what earlier ones filled.
struct Compilation {
  explicit Compilation(const ModelDescription& what) : description(what) {}

  const ModelDescription& description;
  Model model;
  State initial;
  FaultList faults;
  std::unordered_map<std::string, int> material_index, group_index;
  std::vector<std::string> material_names;
  std::unordered_map<std::string, int> body_index;  ///< "world" included
  std::vector<std::string> body_names;              ///< of the description's order, then "world"
  /// Hulls so far, by a number made of their points: shapes of the same points share one.
  struct KnownHull {
    const std::vector<Vec3>* points = nullptr;  ///< of the description
    int hull = -1;
    Vec3 center = Vec3::Zero();  ///< of its frame
    double bound = 0;
  };
  std::unordered_multimap<std::uint64_t, KnownHull> hulls;
};

void compile_materials(Compilation* c);
/// Names of all bodies first, so that joints can be checked even if a body is faulty.
void compile_names(Compilation* c);
void compile_bodies(Compilation* c);
/// Checks the shapes of body i; true if all of them have a usable form. Appends to Model::shapes those that can touch,
/// still placed in the frame of the description.
bool compile_shapes(int i, ItemCheck* body, Compilation* c);
void compile_joints(Compilation* c);
/// Which coordinates a joint has, and which of them are locked.
void set_freedoms(const JointDescription& given, Joint* joint);
/// The axis and the lowest point of a rolling disk; `normal` is the plane's.
void place_disk(const JointDescription& given, const Vec3& normal, ItemCheck* check, const Compilation* c,
                Joint* joint);
/// Gear, rack, differential: rows between axes of other joints.
bool is_coupling(JointKind kind);
/// Limits, motors, friction and springs of joint i.
void compile_axes(const JointDescription& given, int i, ItemCheck* check, Compilation* c);
/// After all axes: couplings of joint i, if it is one, or a screw.
void compile_couplings(const JointDescription& given, int i, ItemCheck* check, Compilation* c);
/// A joint by its name; a fault of the key of `item` and -1 if there is none.
int find_joint(const std::string& name, std::string_view key, ItemCheck* item, Compilation* c);
/// "name" or "name.axis" of a joint -> its axis, made if it is not there yet; a fault and -1 otherwise.
int find_axis_of(const std::string& text, std::string_view key, ItemCheck* item, Compilation* c);
/// After all couplings: the coordinates that nothing acts on.
void compile_idle_axes(Compilation* c);
void compile_springs(Compilation* c);
/// After the joints and before their idle coordinates: one that a sensor looks at is kept in the state.
void compile_sensors(Compilation* c);
void compile_loads(Compilation* c);
/// After the joints, whose pairs count.
void compile_contact_pairs(Compilation* c);

/// Index of a body by name; a fault of the key of `item` and nothing if there is none.
std::optional<int> find_body(const std::string& name, std::string_view key, ItemCheck* item, Compilation* c);
/// Both ends of a joint or spring: known, different, and one of them dynamic.
bool find_ends(const std::string& a, const std::string& b, ItemCheck* item, Compilation* c, int* index_a, int* index_b);
/// A world point at t = 0 in the centre-of-mass frame of a body (kWorld: unchanged).
Vec3 as_body_point(const Compilation& c, int body, const Vec3& world);
/// A world rotation at t = 0 in the body axes.
Mat3 as_body_axes(const Compilation& c, int body, const Mat3& world);

/// `given`, or "KIND_I" if it is empty, with underscores appended until it differs from all `taken`.
std::string make_name(const std::string& given, const char* kind, std::size_t i,
                      const std::unordered_map<std::string, int>& taken);

/// Right-handed frame with the unit vector `axis` as z. x = (world z) x axis, or (world x) x axis where the axis is
/// within 25 degrees of world z: in a plane, x then stays in the plane and y is world z.
Mat3 make_frame(const Vec3& axis);
/// The smallest rotation that takes z to the unit vector `normal` (half a turn about x first if it points down).
Quat make_turn_from_z(const Vec3& normal);

}  // namespace slipstick
