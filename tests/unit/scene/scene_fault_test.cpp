// Spoiled scenes: each gives exactly the lines that a person should see.
#include <gtest/gtest.h>

#include "unit/scene/scene_texts.h"

namespace slipstick {
namespace {

using Lines = std::vector<std::string>;

struct Spoiled {
  const char* name;
  std::string text;
  Lines faults;
};

void PrintTo(const Spoiled& spoiled, std::ostream* out) { *out << spoiled.name; }

class SceneFault : public testing::TestWithParam<Spoiled> {};

TEST_P(SceneFault, IsListed) { EXPECT_EQ(faults_of(GetParam().text), GetParam().faults); }

std::string name_of_case(const testing::TestParamInfo<Spoiled>& info) { return info.param.name; }

/// A scene with one body whose keys are given, in line 3 from column 6.
std::string body(const std::string& keys) { return "slipstick: 1\nbodies:\n  - {" + keys + "}\n"; }
/// ... with one shape, in line 3 from column 46.
std::string shape(const std::string& keys) {
  return body("name: b, mass: 1, inertia: [1,1,1], shapes: [" + keys + "]");
}
/// Two bodies and a joint, in line 6 from column 5.
std::string joint(const std::string& text) {
  return "slipstick: 1\nbodies:\n  - {name: left, mass: 1, inertia: [1, 1, 1]}\n"
         "  - {name: right, mass: 1, inertia: [1, 1, 1], position: [1, 0, 0]}\njoints:\n  - " +
         text + "\n";
}
/// The same with a force.
std::string force(std::string text) {
  text = joint(text);
  return text.replace(text.find("joints"), 6, "forces");
}

INSTANTIATE_TEST_SUITE_P(
    File, SceneFault,
    testing::Values(
        Spoiled{"empty", "", {"s.yaml:1:1: the file is empty; a scene begins with 'slipstick: 1'"}},
        Spoiled{
            "only_comments", "# nothing\n\n", {"s.yaml:1:1: the file is empty; a scene begins with 'slipstick: 1'"}},
        Spoiled{"no_map", "- 1\n- 2\n", {"s.yaml:1:1: expected a map of keys such as 'slipstick: 1', got a list"}},
        Spoiled{
            "no_yaml", "slipstick: 1\nbodies: [1, 2\n", {"s.yaml:3:1: not valid YAML: end of sequence flow not found"}},
        Spoiled{"tab", "slipstick: 1\nbodies:\n\t- {name: a}\n", {"s.yaml:3:2: not valid YAML: illegal block entry"}},
        Spoiled{
            "brace_in_flow",
            "slipstick: 1\nbodies:\n  - {name: a_{i}, fixed: true}\n",
            {"s.yaml:3:14: not valid YAML: end of map flow not found; inside [...] or {...} a name that holds {...} "
             "must be quoted"}},
        Spoiled{"not_utf8", "slipstick: 1\nname: caf\xE9\n", {"s.yaml:2:10: not a UTF-8 text file (byte 0xe9)"}},
        Spoiled{"binary", std::string("slipstick\0", 10), {"s.yaml:1:10: not a UTF-8 text file (byte 0x00)"}},
        Spoiled{"two_documents",
                "slipstick: 1\n---\nslipstick: 1\n",
                {"s.yaml:2:1: a scene file holds one YAML document only"}},
        Spoiled{"no_version",
                "name: x\n",
                {"s.yaml:1:1: missing key 'slipstick'; a scene begins with 'slipstick: 1', the version of the format"}},
        Spoiled{"wrong_version",
                "slipstick: 2\nbodeis: 3\n",
                {"s.yaml:1:12: version '2' of the scene format is not supported (supported: 1)",
                 "s.yaml:2:1: unknown key 'bodeis' in the scene; did you mean 'bodies'?"}},
        Spoiled{"merge_key",
                "slipstick: 1\nrecord: &r {every: 1}\nsimulation: {<<: *r, step: 1}\n",
                {"s.yaml:3:14: merge key '<<' is not supported; use 'defaults' and 'like'"}},
        Spoiled{"alias_in_itself",
                "slipstick: 1\nlet: &a {x: *a}\n",
                {"s.yaml:2:13: not valid YAML: an alias cannot stand inside its own anchor"}}),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(
    Top, SceneFault,
    testing::Values(
        Spoiled{"unknown_key",
                "slipstick: 1\ngravty: [0, 0, 0]\n",
                {"s.yaml:2:1: unknown key 'gravty' in the scene; did you mean 'gravity'?"}},
        Spoiled{"duplicate_key",
                "slipstick: 1\nname: a\nname: b\n",
                {"s.yaml:3:1: duplicate key 'name' (first in line 2)"}},
        Spoiled{"bodies_no_list",
                "slipstick: 1\nbodies: {a: 1}\n",
                {"s.yaml:2:9: expected a list for 'bodies', got a map"}},
        Spoiled{
            "body_no_map", "slipstick: 1\nbodies: [ball]\n", {"s.yaml:2:10: expected a map for a body, got 'ball'"}},
        Spoiled{"gravity_number",
                "slipstick: 1\ngravity: -9.81\n",
                {"s.yaml:2:10: expected a list of 3 numbers for 'gravity' in the scene, got '-9.81'"}},
        Spoiled{"gravity_leaves_plane",
                "slipstick: 1\nplanar: true\ngravity: [0, 0, -9.81]\n",
                {"s.yaml:3:10: gravity: must lie in the x-y plane of a planar model, as [0, -9.81, 0] does; it is "
                 "[0, 0, -9.81]"}},
        Spoiled{"planar_word",
                "slipstick: 1\nplanar: maybe\n",
                {"s.yaml:2:9: expected true or false for 'planar' in the scene, got 'maybe'"}},
        Spoiled{"seed",
                "slipstick: 1\nseed: 1.5\n",
                {"s.yaml:2:7: expected a whole number, zero or more, for 'seed' in the scene, got '1.5'"}},
        Spoiled{"let_reserved",
                "slipstick: 1\nlet: {t: 1, sin: 2, pi: 3, 2x: 4}\n",
                {"s.yaml:2:7: 't' has a meaning of its own; choose another name",
                 "s.yaml:2:13: 'sin' has a meaning of its own; choose another name",
                 "s.yaml:2:21: 'pi' has a meaning of its own; choose another name",
                 "s.yaml:2:28: a variable's name is made of letters, digits and '_'; got '2x'"}},
        Spoiled{"let_fault_once",
                "slipstick: 1\nlet: {a: 1/0, b: 2*a}\nbodies: [{name: x, mass: b, inertia: [a, a, a]}]\n",
                {"s.yaml:2:10: 'a' in let is not a finite number"}},
        Spoiled{"material_key",
                "slipstick: 1\nmaterials: {ice: {fricton: 0}}\n",
                {"s.yaml:2:19: unknown key 'fricton' in material 'ice'; did you mean 'friction'?"}},
        Spoiled{"material_range",
                "slipstick: 1\nmaterials:\n  ice: {friction: -1, restitution: 2}\n",
                {"s.yaml:3:19: material 'ice': friction must not be negative, but is -1",
                 "s.yaml:3:36: material 'ice': restitution must be between 0 and 1, not 2"}},
        Spoiled{"rolling",
                "slipstick: 1\nmaterials: {ice: {rolling_friction: -0.1}}\n",
                {"s.yaml:2:37: material 'ice': rolling_friction must not be negative, but is -0.1"}},
        Spoiled{"friction_by_slip",
                "slipstick: 1\nmaterials:\n"
                "  a: {friction: {peak: 0.5, sliding: 0.6, slip_speed: 0}}\n"
                "  b: {friction: {peak: 0.5, slidin: 0.6}}\n"
                "  c: {friction: {peak: -1, sliding: x, slip_speed: 1}}\n"
                "material_pairs: [{between: [a, b], friction: {peak: 2e4, sliding: 0.1, slip_speed: 1}}]\n",
                {"s.yaml:3:38: material 'a': sliding must be at most the peak, 0.5, not 0.6",
                 "s.yaml:3:55: material 'a': slip_speed must be positive, not 0",
                 "s.yaml:4:17: missing key 'sliding' in friction of material 'b'",
                 "s.yaml:4:17: missing key 'slip_speed' in friction of material 'b'",
                 "s.yaml:4:29: unknown key 'slidin' in friction of material 'b'; did you mean 'sliding'?",
                 "s.yaml:5:37: unknown name 'x'",
                 "s.yaml:6:53: material pair 'a' and 'b': friction must be at most 10000, not 20000; what never slips "
                 "has 1000 or a joint"}},
        Spoiled{
            "solve_mode",
            "slipstick: 1\nmaterials: {ice: {solve: iterativ}}\nmaterial_pairs: [{between: [ice, ice], solve: 1}]\n",
            {"s.yaml:2:26: unknown 'solve' 'iterativ' in material 'ice'; did you mean 'iterative'?",
             "s.yaml:3:47: unknown 'solve' '1' in material pair (known: direct, iterative, split)"}},
        Spoiled{"pair_of_materials",
                "slipstick: 1\nmaterial_pairs: [{between: [defalt, default], friction: 1}]\n",
                {"s.yaml:2:29: material pair 'defalt' and 'default': unknown material 'defalt'; did you mean "
                 "'default'?"}},
        Spoiled{"unused_defaults",
                "slipstick: 1\ndefaults:\n  brick: {mas: 1}\n",
                {"s.yaml:3:11: unknown key 'mas' in defaults 'brick'; did you mean 'mass'?"}},
        Spoiled{"record",
                "slipstick: 1\nrecord: {every: 0, contacts: 3}\n",
                {"s.yaml:2:17: 'every' in record must be 1 or more",
                 "s.yaml:2:30: expected true or false for 'contacts' in record, got '3'"}}),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(
    Body, SceneFault,
    testing::Values(
        Spoiled{"unknown_key",
                body("name: crank, mas: 1, inertia: [1, 1, 1]"),
                {"s.yaml:3:19: unknown key 'mas' in body 'crank'; did you mean 'mass'?"}},
        Spoiled{"duplicate_key",
                body("name: a, fixed: true, fixed: true"),
                {"s.yaml:3:28: duplicate key 'fixed' (first in line 3)"}},
        Spoiled{"list_for_number",
                body("name: a, mass: [1], inertia: [1, 1, 1]"),
                {"s.yaml:3:21: expected a number for 'mass' in body 'a', got a list"}},
        Spoiled{"nothing_for_number",
                body("name: a, mass: , inertia: [1, 1, 1]"),
                {"s.yaml:3:21: expected a number for 'mass' in body 'a', got nothing"}},
        Spoiled{"nan",
                body("name: a, mass: .nan, inertia: [1, 1, inf]"),
                {"s.yaml:3:21: expected a finite number for 'mass' in body 'a', got '.nan'",
                 "s.yaml:3:43: expected a finite number for 'inertia' in body 'a', got 'inf'"}},
        Spoiled{"not_finite",
                body("name: a, fixed: true, position: [1/0, 0, sqrt(-1)]"),
                {"s.yaml:3:39: 'position' in body 'a' is not a finite number",
                 "s.yaml:3:47: 'position' in body 'a' is not a finite number"}},
        Spoiled{"units",
                body("name: a, mass: 5 kg, inertia: [1, 1, 1]"),
                {"s.yaml:3:23: unexpected 'kg' after a value; units are not written, all values are SI"}},
        Spoiled{"expression",
                body("name: a, mass: \"2*(1 + \", inertia: [1, 1, 1]"),
                {"s.yaml:3:29: unexpected end of the expression"}},
        Spoiled{"comma_in_flow",
                body("name: a, fixed: true, position: [rand(1, 2), 0, 0]"),
                {"s.yaml:3:38: expected 3 numbers for 'position' in body 'a', got 4"}},
        Spoiled{"unknown_name",
                body("name: a, mass: dge, inertia: [1, 1, 1]"),
                {"s.yaml:3:21: unknown name 'dge'; did you mean 'deg'?"}},
        Spoiled{"time_not_here",
                body("name: a, mass: 1 + t, inertia: [1, 1, 1]"),
                {"s.yaml:3:25: 't' (the time) is not allowed here"}},
        Spoiled{"two_entries_in_space",
                body("name: a, fixed: true, position: [1, 2]"),
                {"s.yaml:3:38: expected 3 numbers for 'position' in body 'a', got 2"}},
        Spoiled{"negative_mass",
                body("name: a, mass: -1, inertia: [1, 1, 1]"),
                {"s.yaml:3:21: body 'a': mass must be positive, not -1"}},
        Spoiled{"orientation_without_unit",
                body("name: a, fixed: true, orientation: {axis: [0, 0, 1], angle: 3}"),
                {"s.yaml:3:41: missing key 'angle_deg' in orientation of body 'a'",
                 "s.yaml:3:59: unknown key 'angle' in orientation of body 'a' (known: axis, angle_deg, angle_rad)"}},
        Spoiled{"orientation_zero",
                body("name: a, fixed: true, orientation: [0, 0, 0, 0]"),
                {"s.yaml:3:41: 'orientation' in body 'a' must be a quaternion other than zero"}},
        Spoiled{
            "orientation_number",
            body("name: a, fixed: true, orientation: 30"),
            {"s.yaml:3:41: expected [w, x, y, z], {axis, angle_deg} or {rpy_deg} for 'orientation' in body 'a', got "
             "'30'"}},
        Spoiled{"lock",
                body("name: a, mass: 1, inertia: [1, 1, 1], lock: [x, q]"),
                {"s.yaml:3:54: unknown degree of freedom 'q' for 'lock' in body 'a' (known: x, y, z, rx, ry, rz, "
                 "translation, rotation)"}},
        Spoiled{"fixed_and_kinematic",
                body("name: a, fixed: true, kinematic: {}"),
                {"s.yaml:3:39: body 'a' is either 'fixed' or 'kinematic', not both"}},
        Spoiled{"kinematic_mass",
                body("name: a, mass: 1, kinematic: {velocity: [t, 0, 0]}"),
                {"s.yaml:3:15: 'mass' has no meaning in body 'a', whose motion is prescribed; leave it out"}},
        Spoiled{"world",
                body("name: world, fixed: true"),
                {"s.yaml:3:12: 'world' is the world itself; choose another name"}},
        Spoiled{"same_name",
                "slipstick: 1\nbodies:\n  - {name: a, fixed: true}\n  - {name: a, fixed: true}\n",
                {"s.yaml:4:12: body 'a': another body has this name; names must differ"}},
        Spoiled{"copies_with_one_name",
                body("repeat: {i: 3}, name: a, fixed: true"),
                {"s.yaml:3:28: all 3 copies are called 'a'; put an index of 'repeat' into the name, as in 'a_{i}'"}},
        Spoiled{"name_not_integer",
                body("repeat: {i: 3}, name: \"a{i/2}\", fixed: true"),
                {"s.yaml:3:28: {i/2} is not an integer"}},
        Spoiled{"name_brace", body("name: \"a{i\", fixed: true"), {"s.yaml:3:14: missing '}'"}},
        Spoiled{
            "name_expression", body("repeat: {i: 3}, name: \"a{k}\", fixed: true"), {"s.yaml:3:31: unknown name 'k'"}},
        Spoiled{"repeat_number",
                body("repeat: 3, name: a, fixed: true"),
                {"s.yaml:3:14: expected a map such as {i: 10} for 'repeat', got '3'"}},
        Spoiled{"repeat_negative",
                body("repeat: {i: -1}, name: a, fixed: true"),
                {"s.yaml:3:18: 'i' in repeat must be a whole number, zero or more, of a sensible size"}},
        Spoiled{"repeat_faults_once",
                body("repeat: {i: 100}, name: \"a{i}\", mas: 1, inertia: [1, 1, 1]"),
                {"s.yaml:3:38: unknown key 'mas' in body 'a0'; did you mean 'mass'?"}},
        Spoiled{"compile_faults_once",
                body("repeat: {i: 100}, name: \"a{i}\", mass: -i - 1, inertia: [1, 1, 1]"),
                {"s.yaml:3:44: body 'a0': mass must be positive, not -1"}},
        Spoiled{"like_unknown",
                "slipstick: 1\ndefaults: {brick: {fixed: true}}\nbodies:\n  - {name: a, like: brik}\n",
                {"s.yaml:4:21: unknown name 'brik' for 'like'; 'defaults' has brick; did you mean 'brick'?"}},
        Spoiled{"like_circle",
                "slipstick: 1\ndefaults:\n  a: {like: b}\n  b: {like: a}\nbodies:\n  - {like: a}\n",
                {"s.yaml:4:13: 'like' goes in a circle at 'a'"}}),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(
    Gear, SceneFault,
    testing::Values(
        Spoiled{"and_points",
                shape("{extrude: {length: 1, points: [[0, 0], [1, 0], [0, 1]], gear: {teeth: 20, module: 1}}}"),
                {"s.yaml:3:61: extrude of body 'b' needs either 'points', 'file' or 'gear'"}},
        Spoiled{"no_map",
                shape("{extrude: {length: 1, gear: 20}}"),
                {"s.yaml:3:79: expected a map such as {teeth: 25, module: 2e-3} for 'gear' in extrude of body 'b', got "
                 "'20'"}},
        Spoiled{"no_module",
                shape("{extrude: {length: 1, gear: {teeth: 20}}}"),
                {"s.yaml:3:79: missing key 'module' in gear of extrude of body 'b'"}},
        Spoiled{"too_few",
                shape("{extrude: {length: 1, gear: {teeth: 3, module: 1}}}"),
                {"s.yaml:3:87: 'teeth' must be from 4 to 1000, in gear of extrude of body 'b'"}},
        Spoiled{
            "no_involute",
            shape("{extrude: {length: 1, gear: {teeth: 20, module: 1, internal: true}}}"),
            {"s.yaml:3:87: 'teeth' are too few: the tips of the internal gear, at the radius 9, are within its base "
             "circle of 9.397, where there is no involute; take more teeth, a smaller addendum or a profile_shift, in "
             "gear of extrude of body 'b'"}},
        Spoiled{
            "pointed",
            shape("{extrude: {length: 1, gear: {teeth: 20, module: 1, addendum: 2}}}"),
            {"s.yaml:3:112: 'addendum' is too large: the teeth have come to a point before the radius 12, in gear of "
             "extrude of body 'b'"}},
        Spoiled{"rim_outside",
                shape("{extrude: {length: 1, gear: {teeth: 20, module: 1, rim: 2}}}"),
                {"s.yaml:3:107: 'rim' is for internal gears"}},
        Spoiled{"rounded",
                shape("{extrude: {length: 1, corner_radius: 0.1, gear: {teeth: 20, module: 1}}}"),
                {"s.yaml:3:88: corner_radius would round the flanks of the gear too; leave it out in extrude of body "
                 "'b'"}},
        Spoiled{"revolved",
                shape("{revolve: {gear: {teeth: 20, module: 1}}}"),
                {"s.yaml:3:61: revolve of body 'b' needs either 'points' or 'file'",
                 "s.yaml:3:62: unknown key 'gear' in revolve of body 'b' (known: like, points, holes, corner_radius, "
                 "tolerance, file, scale, segments)"}}),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(
    Shape, SceneFault,
    testing::Values(
        Spoiled{"unknown",
                shape("{spere: {radius: 1}}"),
                {"s.yaml:3:52: unknown key 'spere' in body 'b'; did you mean 'sphere'?"}},
        Spoiled{
            "none",
            shape("{position: [0, 0, 0]}"),
            {"s.yaml:3:51: the shape does not say what it is (one of sphere, box, capsule, cylinder, cone, ellipsoid, "
             "hull, plane, halfspace, disk, polygon, extrude, revolve, mesh, heightfield)"}},
        Spoiled{"two",
                shape("{sphere: {radius: 1}, box: {size: [1, 1, 1]}}"),
                {"s.yaml:3:73: one item holds one shape, not 'sphere' and 'box'"}},
        Spoiled{"missing_key", shape("{sphere: {}}"), {"s.yaml:3:60: missing key 'radius' in sphere of body 'b'"}},
        Spoiled{"unknown_key",
                shape("{sphere: {radus: 1, radius: 1}}"),
                {"s.yaml:3:61: unknown key 'radus' in sphere of body 'b'; did you mean 'radius'?"}},
        Spoiled{"hull_of_nothing",
                shape("{hull: {}}"),
                {"s.yaml:3:58: hull of body 'b' needs 'points', 'file' or 'random'"}},
        Spoiled{"hull_of_two",
                shape("{hull: {file: a.obj, random: {points: 4, size: [1, 1, 1]}}}"),
                {"s.yaml:3:58: hull of body 'b' has more than one of 'points', 'file' and 'random'; give one"}},
        Spoiled{"random_hull_number",
                shape("{hull: {random: 40}}"),
                {"s.yaml:3:67: expected a map such as {points: 40, size: [1, 1, 1]} for 'random' in hull of body 'b', "
                 "got '40'"}},
        Spoiled{"random_hull_empty",
                shape("{hull: {random: {point: 40}}}"),
                {"s.yaml:3:67: missing key 'points' in random hull of body 'b'",
                 "s.yaml:3:67: missing key 'size' in random hull of body 'b'",
                 "s.yaml:3:68: unknown key 'point' in random hull of body 'b'; did you mean 'points'?"}},
        Spoiled{"random_hull_few",
                shape("{hull: {random: {points: 2 + 1, size: [1, 1, 1]}}}"),
                {"s.yaml:3:76: 'points' must be from 4 to 10000 in random hull of body 'b'"}},
        Spoiled{"random_hull_many",
                shape("{hull: {random: {points: 1e6, size: [1, 1, 1]}}}"),
                {"s.yaml:3:76: 'points' must be from 4 to 10000 in random hull of body 'b'"}},
        Spoiled{"random_hull_flat",
                shape("{hull: {random: {points: 9, size: [1, 0, 1]}}}"),
                {"s.yaml:3:85: size must be positive in random hull of body 'b'"}},
        Spoiled{"random_hull_seed",
                shape("{hull: {random: {points: 9, size: [1, 1, 1], seed: [1]}}}"),
                {"s.yaml:3:102: expected a number for 'seed' in random hull of body 'b', got a list"}},
        Spoiled{"disk_in_space",
                shape("{disk: {radius: 1}}"),
                {"s.yaml:3:52: shape 'disk' is not for scenes in space; use 'sphere'"}},
        Spoiled{"sphere_in_plane",
                "slipstick: 1\nplanar: true\nbodies:\n  - {name: b, mass: 1, shapes: [{sphere: {radius: 1}}]}\n",
                {"s.yaml:4:34: shape 'sphere' is not for planar scenes; use 'disk'"}},
        Spoiled{"zero_volume",
                shape("{sphere: {radius: 1}}, {box: {size: [1, 0, 1]}}"),
                {"s.yaml:3:87: body 'b': shape 2 (box): size must be positive, not 0"}},
        Spoiled{
            "color",
            shape("{sphere: {radius: 1}, color: gren}"),
            {"s.yaml:3:80: unknown color 'gren' in body 'b'; write \"#rgb\", \"#rrggbb\" or a CSS name; did you mean "
             "'green'?"}},
        Spoiled{"material",
                "slipstick: 1\nmaterials: {steel: {}}\nbodies:\n  - {name: b, mass: 1, shapes: [{sphere: "
                "{radius: 1}, material: stel}]}\n",
                {"s.yaml:4:65: body 'b': shape 1 (sphere): unknown material 'stel'; did you mean 'steel'?"}}),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(
    JointAndForce, SceneFault,
    testing::Values(
        Spoiled{"screw",
                joint("screw: {between: [left, right]}"),
                {"s.yaml:6:12: missing key 'at' in screw", "s.yaml:6:12: missing key 'axis' in screw",
                 "s.yaml:6:12: missing key 'pitch' in screw"}},
        Spoiled{"unknown",
                joint("hing: {between: [left, right]}"),
                {"s.yaml:6:5: unknown key 'hing' in joint; did you mean 'hinge'?"}},
        Spoiled{"motor",
                joint("hinge: {between: [left, right], at: [0, 0, 0], axis: [0, 0, 1], motor: {speed: 2}}"),
                {"s.yaml:6:76: missing key 'max' in motor of hinge"}},
        Spoiled{"missing",
                joint("hinge: {name: h}"),
                {"s.yaml:6:12: missing key 'between' in hinge 'h'", "s.yaml:6:12: missing key 'at' in hinge 'h'",
                 "s.yaml:6:12: missing key 'axis' in hinge 'h'"}},
        Spoiled{"dangling",
                joint("ball: {name: h, between: [left, rihgt], at: [0, 0, 0]}"),
                {"s.yaml:6:37: joint 'h': unknown body 'rihgt'; did you mean 'right'?"}},
        Spoiled{"itself",
                joint("ball: {name: h, between: [left, left], at: [0, 0, 0]}"),
                {"s.yaml:6:31: joint 'h': joins 'left' to itself; name two different bodies"}},
        Spoiled{"three_bodies",
                joint("ball: {between: [left, right, left], at: [0, 0, 0]}"),
                {"s.yaml:6:21: expected a list of two bodies for 'between' in ball, got 3"}},
        Spoiled{"rod_with_one_point",
                joint("rod: {between: [left, right], at: [0, 0, 0]}"),
                {"s.yaml:6:39: expected two points [[..], [..]] for 'at' in rod, got a list"}},
        Spoiled{"negative_compliance",
                joint("ball: {between: [left, right], at: [0, 0, 0], compliance: -1}"),
                {"s.yaml:6:63: joint 1 (ball): compliance must not be negative, but is -1"}},
        Spoiled{"spring_without_stiffness",
                force("spring: {between: [left, right]}"),
                {"s.yaml:6:13: missing key 'stiffness' in spring"}},
        Spoiled{"load_without_force",
                force("load: {body: left}"),
                {"s.yaml:6:11: missing key 'force' or 'torque' in load"}},
        Spoiled{"load_on_nobody",
                force("load: {body: lft, force: [t, 0, 0]}"),
                {"s.yaml:6:18: load 1: unknown body 'lft'; did you mean 'left'?"}},
        Spoiled{"load_expression",
                force("load: {body: left, force: [cos(t, 0, 0]}"),
                {"s.yaml:6:37: missing ')'; inside [...] or {...} an expression that holds a comma must be quoted"}},
        Spoiled{"contact_pair",
                "slipstick: 1\nbodies: [{name: body, fixed: true}]\npairs_without_contact: [[body, bodi], [body]]\n",
                {"s.yaml:3:32: pairs_without_contact: unknown body 'bodi'; did you mean 'body'?",
                 "s.yaml:3:39: expected a list of two bodies for 'between' in pairs_without_contact, got 1"}}),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(
    Simulation, SceneFault,
    testing::Values(
        Spoiled{"step",
                "slipstick: 1\nsimulation: {duration: 1, step: 0}\n",
                {"s.yaml:2:33: step must be a positive time in seconds"}},
        Spoiled{"unknown_key",
                "slipstick: 1\nsimulation: {timestep: 0.1}\n",
                {"s.yaml:2:14: unknown key 'timestep' in simulation (known: like, scheme, solver, step, duration, "
                 "friction, tolerance, heap_tolerance, effort, budget, stabilization, restitution_threshold, impact, "
                 "reduce_contacts, close_joints, "
                 "hold_resting, "
                 "threads, accuracy, unique_forces)"}},
        Spoiled{"facets",
                "slipstick: 1\nsimulation: {friction: {model: pyramid, facets: 3}}\n",
                {"s.yaml:2:24: facets must be an even number from 4 to 64"}},
        Spoiled{"friction",
                "slipstick: 1\nsimulation: {friction: {model: con}}\n",
                {"s.yaml:2:32: unknown friction model 'con'; did you mean 'cone'?"}},
        Spoiled{"threads",
                "slipstick: 1\nsimulation: {threads: 1.5}\n",
                {"s.yaml:2:23: expected an integer for 'threads' in simulation, got '1.5'"}},
        Spoiled{"scheme_option",
                "slipstick: 1\nsimulation: {scheme: {stabilized: {alpha: 1}}}\n",
                {"s.yaml:2:36: scheme 'stabilized' has no option 'alpha' in this version (known: stabilization, "
                 "restitution_threshold, impact_stage, locate)"}},
        Spoiled{"solver_option",
                "slipstick: 1\nsimulation: {solver: {pgs: {itrations: 9, local: cones}}}\n",
                {"s.yaml:2:29: unknown key 'itrations' in solver 'pgs'; did you mean 'iterations'?",
                 "s.yaml:2:50: unknown value 'cones' for 'local' in solver 'pgs'; did you mean 'cone'?"}},
        Spoiled{"solver_option_range",
                "slipstick: 1\nsimulation: {solver: {pgs: {relaxation: 2}}}\n",
                {"s.yaml:2:22: relaxation of the solver must lie between 0 and 2"}},
        Spoiled{"solver_without_options",
                "slipstick: 1\nsimulation: {solver: {admm: {local: cone}}}\n",
                {"s.yaml:2:30: unknown key 'local' in solver 'admm' (known: iterations)"}},
        Spoiled{"solver_unknown_with_options",
                "slipstick: 1\nsimulation: {solver: {pqs: {local: cone}}}\n",
                {"s.yaml:2:22: unknown solver 'pqs'; did you mean 'pgs'?"}},
        Spoiled{"alpha",
                "slipstick: 1\nsimulation: {scheme: {alpha-gamma: {alpha: 0}}}\n",
                {"s.yaml:2:22: alpha must lie in (0, 1]"}},
        Spoiled{"event_state",
                "slipstick: 1\nsimulation: {scheme: {trapezoid: {event_state: hermit}}}\n",
                {"s.yaml:2:48: unknown 'event_state' 'hermit' in scheme 'trapezoid'; did you mean 'hermite'?"}},
        Spoiled{"split_options",
                "slipstick: 1\nsimulation: {solver: {split: {coupling: -1, iterations: 3}}}\n",
                {"s.yaml:2:22: iterations or coupling of the solver must be a number, 0 for its own",
                 "s.yaml:2:45: unknown key 'iterations' in solver 'split' (known: local, relaxation, coupling, sweeps, "
                 "time_limit, symmetric, order, threads)"}},
        Spoiled{"impact",
                "slipstick: 1\nsimulation: {impact: poison}\n",
                {"s.yaml:2:22: unknown 'impact' 'poison' in simulation; did you mean 'poisson'?"}},
        Spoiled{"stabilization_of_the_scheme",
                "slipstick: 1\nsimulation: {step: 1, scheme: {stabilized: {stabilization: 2}}}\n",
                {"s.yaml:2:31: stabilization must lie in (0, 1]"}},
        Spoiled{"threads_of_the_solver",
                "slipstick: 1\nsimulation: {threads: 1, solver: {pgs: {threads: 0}}}\n",
                {"s.yaml:2:34: threads of the solver must be a number from 1 to 1024"}},
        Spoiled{"reduced_events",
                "slipstick: 1\nsimulation: {scheme: trapezoid, reduce_contacts: true}\n",
                {"s.yaml:2:50: reduce_contacts needs fixed steps (scheme stabilized or spook, without locate): events "
                 "follow each contact"}},
        Spoiled{"solver_list",
                "slipstick: 1\nsimulation: {solver: [auto]}\n",
                {"s.yaml:2:22: expected a text for 'solver' in simulation, got a list"}}),
    name_of_case);

// Names that are also keys, and keys whose members are called otherwise: the place comes from the fault's key alone.
INSTANTIATE_TEST_SUITE_P(
    Place, SceneFault,
    testing::Values(
        Spoiled{"body_called_mass",
                body("name: mass, group: density, density: -1, lock: [rotation]"),
                {"s.yaml:3:43: body 'mass': density must be positive, not -1"}},
        Spoiled{"material_called_radius",
                shape("{sphere: {radius: 1}, material: radius}"),
                {"s.yaml:3:83: body 'b': shape 1 (sphere): unknown material 'radius'"}},
        Spoiled{"joint_called_at",
                joint("hinge: {name: at, between: [axis, right], at: [0, 0, 0], axis: [0, 0, 1]}"),
                {"s.yaml:6:33: joint 'at': unknown body 'axis'"}},
        Spoiled{"limits_in_degrees",
                joint("hinge: {between: [left, right], at: [0, 0, 0], axis: [0, 0, 1], limits_deg: [30, 20]}"),
                {"s.yaml:6:81: joint 1 (hinge): limits must be [low, high] with low <= high, not [0.523598776, "
                 "0.34906585]"}},
        Spoiled{"second_motor",
                joint("cylindrical: {between: [left, right], at: [0, 0, 0], axis: [0, 0, 1], "
                      "slide: {motor: {speed: 1, max: 2}}, turn: {motor: {speed: 1, max: -2}}}"),
                {"s.yaml:6:141: joint 1 (cylindrical): max of the motor must be positive, not -2"}},
        Spoiled{"axle",
                joint("wheel: {between: [left, right], up: [0, 0, 1], axis: [0, 1, 1]}"),
                {"s.yaml:6:58: joint 1 (wheel): its two axes [0, 0, 1] and [0, 0.707106781, 0.707106781] must be at "
                 "right angles"}},
        Spoiled{"up_of_a_wheel",
                joint("wheel: {between: [left, right], up: [0, 0, 0], axis: [0, 1, 0]}"),
                {"s.yaml:6:41: joint 1 (wheel): axis must not be zero"}},
        Spoiled{"pitch",
                joint("screw: {between: [left, right], at: [0, 0, 0], axis: [0, 0, 1], pitch: 0}"),
                {"s.yaml:6:76: joint 1 (screw): pitch must not be zero; a screw without pitch is a hinge"}},
        Spoiled{"geared",
                joint("gear: {joints: [ratio, ratio], ratio: 2}"),
                {"s.yaml:6:21: joint 1 (gear): unknown joint 'ratio'"}},
        Spoiled{"spring_ends",
                force("spring: {between: [left, stiffness], stiffness: 1, at: [[0, 0, 0], [1, 0, 0]]}"),
                {"s.yaml:6:30: spring 1: unknown body 'stiffness'"}},
        Spoiled{"kinematic",
                "slipstick: 1\nplanar: true\nbodies:\n  - {name: velocity, kinematic: {velocity: [0, 0, 1]}}\n",
                {"s.yaml:4:44: body 'velocity': its kinematic motion leaves the x-y plane of a planar model"}}),
    name_of_case);

TEST(SceneFaults, UnknownSchemeIsPlaced) {
  const Lines faults = faults_of("slipstick: 1\nsimulation:\n  scheme: stabilised\n");
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_TRUE(faults[0].starts_with("s.yaml:3:11: unknown scheme 'stabilised'")) << faults[0];
}

TEST(SceneFaults, IndependentOnesAreAllListedInOrder) {
  EXPECT_EQ(faults_of(R"(slipstick: 1
joints:
  - ball: {name: j, between: [crank, bod], at: [0, 0, 0]}
bodies:
  - {name: crank, mas: 1, shapes: [{sphere: {radius: -1}}]}
  - {name: rod, mass: 1, inertia: [1, 1, 9]}
simulation: {step: -1}
)"),
            (Lines{"s.yaml:3:38: joint 'j': unknown body 'bod'; did you mean 'rod'?",
                   "s.yaml:5:19: unknown key 'mas' in body 'crank'; did you mean 'mass'?",
                   "s.yaml:5:54: body 'crank': shape 1 (sphere): radius must be positive, not -1",
                   "s.yaml:6:35: body 'rod': inertia is not that of any body: it must be symmetric and positive "
                   "definite, and no principal moment may exceed the sum of the other two",
                   "s.yaml:7:20: step must be a positive time in seconds"}));
}

TEST(SceneFaults, FollowUpsAreNot) {
  // The second body's name cannot be read: that a joint does not find it is no news.
  EXPECT_EQ(faults_of(R"(slipstick: 1
bodies:
  - {name: a, mass: 1, inertia: [1, 1, 1]}
  - {name: "b{k}", mass: 1, inertia: [1, 1, 1]}
joints:
  - ball: {between: [a, b0], at: [0, 0, 0]}
)"),
            Lines{"s.yaml:4:15: unknown name 'k'"});
}

TEST(SceneFaults, OneLineEachWhateverTheyQuote) {
  EXPECT_EQ(faults_of(body("name: \"a\\nb\", fixed: true")),
            Lines{"s.yaml:3:12: 'name' in body holds a line break or another control character"});
  const Lines faults = faults_of("slipstick: 1\n\"x\\e[31m\\n" + std::string(3000, 'y') + "\": 1\n");
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_LT(faults[0].size(), 600u);
  EXPECT_EQ(faults[0].find_first_of("\n\x1b"), std::string::npos);
}

TEST(SceneFaults, ADuplicateKeyDoesNotHideADanglingJoint) {
  EXPECT_EQ(faults_of(joint("ball: {name: h, name: h, between: [left, rihgt], at: [0, 0, 0]}")).size(), 2u);
  EXPECT_EQ(faults_of("slipstick: 1\nmaterials: 3\nbodies:\n  - {name: b, mass: 1, material: ice, shapes: [{sphere: "
                      "{radius: 1}}]}\n"),
            Lines{"s.yaml:2:12: expected a map for 'materials', got '3'"});
}

TEST(SceneFaults, AreCutAtFifty) {
  std::string text = "slipstick: 1\n";
  for (int i = 0; i < 70; ++i) text += "wrong" + std::to_string(i) + ": 1\n";
  const Lines faults = faults_of(text);
  ASSERT_EQ(faults.size(), 51u);
  EXPECT_EQ(faults.back(), "and 20 more faults");
}

TEST(SceneFaults, HostileYamlEnds) {
  EXPECT_EQ(faults_of(std::string(100000, '[')).size(), 1u);
  std::string deep = "slipstick: 1\nlet: ";
  for (int i = 0; i < 100; ++i) deep += "[";
  ASSERT_EQ(faults_of(deep).size(), 1u);
  EXPECT_TRUE(faults_of(deep)[0].ends_with("not valid YAML: nested too deeply")) << faults_of(deep)[0];
  std::string bomb = "slipstick: 1\nlet:\n  a0: &a0 [1, 1]\n";
  for (int i = 1; i < 60; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "  a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + ", " + before + "]\n";
  }
  const Lines faults = faults_of(bomb);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_NE(faults[0].find("aliases expand the file to more than a million items"), std::string::npos);
}

TEST(SceneFaults, ByteOrderMarkAndWindowsLinesAreFine) {
  EXPECT_EQ(faults_of("\xEF\xBB\xBFslipstick: 1\r\nbodies:\r\n  - {name: a, fixed: true}\r\n"), Lines{"ok"});
}

}  // namespace
}  // namespace slipstick
