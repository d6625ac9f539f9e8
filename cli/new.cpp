// slipstick new: a scene to begin with.
#include "commands.h"
#include "terminal.h"

#include <slipstick/output_file.h>

#include <filesystem>

namespace {

/// A four-bar linkage with a motor: small, moves at once, and has one of everything that most scenes need.
constexpr char kStarter[] =
    R"(# A four-bar linkage with a motor. Everything is in metres, kilograms and seconds; z points up.
#
#   slipstick check FILE          what the program makes of it
#   slipstick run FILE -o RUN     simulate and record
#   slipstick view FILE --live    watch it run, with sliders for the motor and for the names under 'let'
slipstick: 1
name: NAME

# Numbers with names. '--set speed=3' changes one from the command line, and expressions may use them anywhere.
let:
  speed: 2          # of the motor, rad/s
  torque: 20        # that it has at most, N m
  crank: 0.3        # lengths of the bars, m
  coupler: 0.8
  rocker: 0.6
  base: 0.8         # between the two fixed pins
  # The upper pin at the start: the crank stands upright, and coupler and rocker meet where their circles cross.
  d: hypot(base, crank)
  along: (coupler^2 - rocker^2 + d^2)/(2*d)
  off: sqrt(coupler^2 - along^2)
  px: (along*base + off*crank)/d
  pz: crank + (off*base - along*crank)/d

materials:
  default: {friction: 0.4, restitution: 0.1}

# Keys that several bodies share: 'like: bar' takes them over.
defaults:
  bar: {mass: 1, color: "#4477aa"}

# A body is a frame with a mass and shapes. 'position' is where its frame is, here the middle of each bar.
bodies:
  - {name: floor, fixed: true, shapes: [{plane: {normal: [0, 0, 1], offset: -0.6}}]}
  - like: bar
    name: crank
    position: [0, 0, crank/2]
    shapes: [{box: {size: [0.05, 0.05, crank]}}]
  - like: bar
    name: coupler
    position: [px/2, 0.06, (crank + pz)/2]
    orientation: {axis: [0, 1, 0], angle_deg: "-atan2(pz - crank, px)/deg"}
    shapes: [{box: {size: [coupler, 0.05, 0.05]}}]
    color: "#ee6677"
  - like: bar
    name: rocker
    position: [(base + px)/2, 0, pz/2]
    orientation: {axis: [0, 1, 0], angle_deg: "atan2(px - base, pz)/deg"}
    shapes: [{box: {size: [0.05, 0.05, rocker]}}]
    color: "#228833"
  # Something that touches: it falls, bounces a little and rolls.
  - name: ball
    mass: 0.2
    position: [-0.5, 0, 0.5]
    velocity: [0.3, 0, 0]
    shapes: [{sphere: {radius: 0.08}, color: "#ccbb44"}]

# Points and axes of joints are given in the world, as things are at the start. 'world' is a body that never moves.
joints:
  - hinge: {name: motor, between: [world, crank], at: [0, 0, 0], axis: [0, 1, 0], motor: {speed: speed, max: torque}}
  - hinge: {name: left, between: [crank, coupler], at: [0, 0, crank], axis: [0, 1, 0]}
  # Four hinges would hold the loop three times too often (try it: 'check' says so). These hold it just so.
  - ball: {name: right, between: [coupler, rocker], at: [px, 0, pz]}
  - cylindrical: {name: pivot, between: [world, rocker], at: [base, 0, 0], axis: [0, 1, 0]}

simulation:
  duration: 10      # s
  step: 1/200       # s
)";

/// What a scene may be called: a file name that no shell and no option takes for something else.
bool is_good_name(const std::string& stem) {
  return !stem.empty() && stem[0] != '-' && stem[0] != '.' &&
         stem.find_first_of("\n\r\t'\"\\:*?<>|") == std::string::npos;
}

}  // namespace

int new_scene(const NewArguments& arguments) {
  std::filesystem::path path = arguments.name;
  if (path.extension() != ".yaml" && path.extension() != ".yml") path += ".yaml";
  const std::string stem = path.stem().string();
  if (!is_good_name(stem)) {
    say("new", "that is no name for a file; try 'slipstick new machine'");
    return kBadInput;
  }
  std::error_code code;
  if (std::filesystem::exists(path, code)) {
    say("new", path.string() + ": is there already; choose another name");
    return kBadInput;
  }
  std::string text = kStarter;
  const auto replace = [&](const std::string& word, const std::string& by) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size()))
      text.replace(at, word.size(), by);
  };
  replace("FILE", path.string());
  replace("-o RUN ", "-o " + stem + ".h5 ");
  replace("NAME", "'" + stem + "'");
  slipstick::OutputFile file;
  std::string fault;
  if (!file.open(path.string(), &fault)) {
    say("new", fault);
    return kBadInput;
  }
  if (!file.write(text, &fault)) {
    say("new", fault);
    return kFailed;
  }
  say(path.string() + ": a four-bar linkage to begin with. See it: slipstick view " + path.string() + " --live");
  return kDone;
}
