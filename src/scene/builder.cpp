#include <slipstick/builder.h>

#include <utility>

namespace slipstick {

namespace {

ShapeDescription make_shape(ShapeKind kind) {
  ShapeDescription shape;
  shape.kind = kind;
  return shape;
}

ShapeDescription make_long_shape(ShapeKind kind, double radius, double length) {
  ShapeDescription shape = make_shape(kind);
  shape.radius = radius;
  shape.length = length;
  return shape;
}

template <class T>
std::vector<T> copy_items(const std::deque<T>& items) {
  return {items.begin(), items.end()};
}

}  // namespace

ShapeDescription make_sphere(double radius) { return make_long_shape(ShapeKind::Sphere, radius, 0); }
ShapeDescription make_disk(double radius) { return make_long_shape(ShapeKind::Disk, radius, 0); }
ShapeDescription make_capsule(double radius, double length) {
  return make_long_shape(ShapeKind::Capsule, radius, length);
}
ShapeDescription make_cylinder(double radius, double length) {
  return make_long_shape(ShapeKind::Cylinder, radius, length);
}
ShapeDescription make_cone(double radius, double length) { return make_long_shape(ShapeKind::Cone, radius, length); }

ShapeDescription make_box(const Vec3& size) {
  ShapeDescription shape = make_shape(ShapeKind::Box);
  shape.size = size;
  return shape;
}

ShapeDescription make_ellipsoid(const Vec3& size) {
  ShapeDescription shape = make_shape(ShapeKind::Ellipsoid);
  shape.size = size;
  return shape;
}

ShapeDescription make_plane(const Vec3& normal, double offset) {
  ShapeDescription shape = make_shape(ShapeKind::Plane);
  shape.normal = normal;
  shape.offset = offset;
  return shape;
}

ShapeDescription make_hull(std::vector<Vec3> points) {
  ShapeDescription shape = make_shape(ShapeKind::Hull);
  shape.vertices = std::move(points);
  return shape;
}

ShapeDescription make_polygon(std::vector<Vec2> vertices) {
  ShapeDescription shape = make_shape(ShapeKind::Polygon);
  shape.points = std::move(vertices);
  return shape;
}

Motor make_speed_motor(double target, double max) {
  Motor motor;
  motor.target = Expression(target);
  motor.max = max;
  return motor;
}

Motor make_position_motor(double target, double max) {
  Motor motor = make_speed_motor(target, max);
  motor.drives_position = true;
  return motor;
}

AxisDescription& main_axis(JointDescription* joint) {
  const Freedom freedom = main_freedom(joint->kind).value_or(Freedom::TurnZ);
  for (AxisDescription& axis : joint->axes)
    if (axis.freedom == freedom) return axis;
  AxisDescription& axis = joint->axes.emplace_back();
  axis.freedom = freedom;
  return axis;
}

BodyDescription& Builder::body(std::string name, const Vec3& position, std::vector<ShapeDescription> shapes) {
  BodyDescription& body = bodies_.emplace_back();
  body.name = std::move(name);
  body.pose.position = position;
  body.shapes = std::move(shapes);
  return body;
}

BodyDescription& Builder::fixed(std::string name, const Vec3& position, std::vector<ShapeDescription> shapes) {
  BodyDescription& body = this->body(std::move(name), position, std::move(shapes));
  body.kind = BodyKind::Fixed;
  return body;
}

BodyDescription& Builder::ground() {
  return fixed("ground", Vec3::Zero(), {make_plane(planar ? Vec3::UnitY() : Vec3::UnitZ())});
}

JointDescription& Builder::joint(JointKind kind, std::string name, std::string a, std::string b, const Vec3& at) {
  JointDescription& joint = joints_.emplace_back();
  joint.kind = kind;
  joint.name = std::move(name);
  joint.a = std::move(a);
  joint.b = std::move(b);
  joint.at = at;
  return joint;
}

JointDescription& Builder::ball(std::string name, std::string a, std::string b, const Vec3& at) {
  return joint(JointKind::Ball, std::move(name), std::move(a), std::move(b), at);
}

JointDescription& Builder::hinge(std::string name, std::string a, std::string b, const Vec3& at, const Vec3& axis) {
  JointDescription& made = joint(JointKind::Hinge, std::move(name), std::move(a), std::move(b), at);
  made.axis = axis;
  return made;
}

JointDescription& Builder::slider(std::string name, std::string a, std::string b, const Vec3& at, const Vec3& axis) {
  JointDescription& made = joint(JointKind::Slider, std::move(name), std::move(a), std::move(b), at);
  made.axis = axis;
  return made;
}

JointDescription& Builder::weld(std::string name, std::string a, std::string b, const Vec3& at) {
  return joint(JointKind::Fixed, std::move(name), std::move(a), std::move(b), at);
}

JointDescription& Builder::rod(std::string name, std::string a, std::string b, const Vec3& at_a, const Vec3& at_b) {
  JointDescription& made = joint(JointKind::Rod, std::move(name), std::move(a), std::move(b), at_a);
  made.at_b = at_b;
  return made;
}

JointDescription& Builder::rope(std::string name, std::string a, std::string b, const Vec3& at_a, const Vec3& at_b) {
  JointDescription& made = joint(JointKind::Rope, std::move(name), std::move(a), std::move(b), at_a);
  made.at_b = at_b;
  return made;
}

SpringDescription& Builder::spring(std::string name, std::string a, std::string b, const Vec3& at_a, const Vec3& at_b,
                                   double stiffness, double damping) {
  SpringDescription& spring = springs_.emplace_back();
  spring.name = std::move(name);
  spring.a = std::move(a);
  spring.b = std::move(b);
  spring.at_a = at_a;
  spring.at_b = at_b;
  spring.stiffness = stiffness;
  spring.damping = damping;
  return spring;
}

LoadDescription& Builder::load(std::string name, std::string body, const Vec3& force) {
  LoadDescription& load = loads_.emplace_back();
  load.name = std::move(name);
  load.body = std::move(body);
  for (int k = 0; k < 3; ++k) load.force[k] = Expression(force[k]);
  return load;
}

Material& Builder::material(std::string name, double friction, double restitution) {
  Material& material = materials_.emplace_back();
  material.name = std::move(name);
  material.friction = friction;
  material.restitution = restitution;
  return material;
}

void Builder::no_contact(std::string a, std::string b) {
  pairs_without_contact_.push_back({std::move(a), std::move(b)});
}

Expression Builder::formula(std::string_view text) {
  ExpressionContext context;
  context.allow_time = true;
  context.lookup = [](std::string_view) { return std::nullopt; };
  auto compiled = compile_expression(text, context);
  if (const auto* fault = std::get_if<ExpressionFault>(&compiled)) {
    faults_.push_back({{}, "formula '" + std::string(text) + "': " + fault->message});
    return {};
  }
  return std::get<Expression>(std::move(compiled));
}

Result<Scene> Builder::compile() const {
  Scene scene;
  scene.name = name;
  scene.options = options;
  ModelDescription& description = scene.description;
  description.name = name;
  description.gravity = gravity;
  description.planar = planar;
  description.bodies = copy_items(bodies_);
  description.joints = copy_items(joints_);
  description.springs = copy_items(springs_);
  description.loads = copy_items(loads_);
  description.materials = copy_items(materials_);
  description.pairs_without_contact = pairs_without_contact_;
  CompiledModel compiled = slipstick::compile(description, &scene.initial);
  Faults faults = faults_;
  for (const CompileFault& fault : compiled.faults) faults.push_back({{}, fault.message});
  for (const OptionFault& fault : find_option_faults(options)) faults.push_back({{}, fault.message});
  if (!faults.empty()) return faults;
  scene.model = std::move(compiled.model);
  return scene;
}

}  // namespace slipstick
