// MuJoCo: double precision, nothing sleeps. Ball joints make a tree of generalized coordinates, as models for it are
// written; those that close a loop are equality constraints.
//   default   its own settings: Newton, pyramids, contacts that give way over 20 ms
//   stiff     elliptic cones, the shortest time constant it takes (two steps), impedances near one, and contacts that
//             begin a micrometre before the touch: what starts at a distance of zero would fall for a step
//   stiff-cg  the same with conjugate gradients, for many contacts
#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <set>
#include <string_view>

#include "peer.h"
#include "tree.h"

namespace {

constexpr double kSame = 1e-12;
/// Bytes of its constraint matrices, which this version stores dense, rows times rows among them.
constexpr double kMostMemory = 1.8e9;

std::string complaint;  ///< its warnings and errors are texts for functions without a place for more

template <std::size_t N>
std::string text_of(const std::array<double, N>& numbers) {
  std::string text;
  char one[40];
  for (const double x : numbers) {
    std::snprintf(one, sizeof one, "%.17g ", x);
    text += one;
  }
  return text;
}

/// A pose as seen from another one.
PeerPose make_relative(const PeerPose& from, const PeerPose& to) {
  mjtNum back[3], turn[4];
  mju_negPose(back, turn, from.position.data(), from.orientation.data());
  PeerPose pose;
  mju_mulPose(pose.position.data(), pose.orientation.data(), back, turn, to.position.data(), to.orientation.data());
  return pose;
}

class Mujoco {
 public:
  Mujoco(const PeerScene& scene, std::string setting);
  ~Mujoco();
  Mujoco(const Mujoco&) = delete;
  Mujoco& operator=(const Mujoco&) = delete;
  std::string name() const { return "MuJoCo " + std::string(mj_versionString()) + ", " + setting_; }
  std::string failure() const { return complaint; }
  void push(int body, const std::array<double, 3>& f) {
    for (int i = 0; i < 3; ++i) data_->xfrc_applied[6 * id_[body] + i] += f[i];
  }
  void step(double) {
    mj_step(model_, data_);
    std::fill_n(data_->xfrc_applied, 6 * model_->nbody, 0.0);
    fresh_ = false;
  }
  PeerPose pose(int body) {
    refresh();
    const mjtNum *x = data_->xpos + 3 * id_[body], *q = data_->xquat + 4 * id_[body];
    return {{x[0], x[1], x[2]}, {q[0], q[1], q[2], q[3]}};
  }
  std::array<double, 3> velocity(int body) { return motion(body, 3); }
  std::array<double, 3> spin(int body) { return motion(body, 0); }

 private:
  /// After a step the coordinates are those of its end, but poses and velocities still those of its beginning.
  void refresh() {
    if (fresh_) return;
    mj_kinematics(model_, data_);
    mj_comPos(model_, data_);
    mj_comVel(model_, data_);
    fresh_ = true;
  }
  std::array<double, 3> motion(int body, int first) {
    refresh();
    mjtNum both[6];
    mj_objectVelocity(model_, data_, mjOBJ_BODY, id_[body], both, 0);
    return {both[first], both[first + 1], both[first + 2]};
  }
  std::string write_settings() const;
  std::string write_body(int body, int parent) const;
  std::string write_geom(const PeerShape& shape) const;
  std::string write_contact() const;
  std::string write_loops() const;
  void load(const std::string& xml);
  void set_velocities();
  std::string softness() const;
  std::string margin() const;

  const PeerScene& scene_;
  std::string setting_;
  Tree tree_;
  std::vector<int> id_;  ///< of each body in the model
  mjModel* model_ = nullptr;
  mjData* data_ = nullptr;
  bool fresh_ = false;
};

Mujoco::Mujoco(const PeerScene& scene, std::string setting)
    : scene_(scene), setting_(std::move(setting)), tree_(scene) {
  mju_user_warning = [](const char* text) { complaint = complaint.empty() ? text : complaint; };
  mju_user_error = [](const char* text) {
    std::printf("failure %s\nend\n", text);
    std::fflush(stdout);
    std::_Exit(0);
  };
  std::string xml = "<mujoco>" + write_settings() + "<worldbody>";
  for (const int root : tree_.roots) xml += write_body(root, -1);
  // Its list of pairs has a place for each two bodies, too few where several planes are near all of them: two more
  // bodies, of nothing, for each.
  for (const PeerShape& shape : scene.shapes)
    if (shape.kind == "plane") xml += "<body/><body/>";
  load(xml + "</worldbody><contact>" + write_contact() + "</contact><equality>" + write_loops() +
       "</equality></mujoco>");
  if (model_ == nullptr) return;
  data_ = mj_makeData(model_);
  for (std::size_t i = 0; i < scene.bodies.size(); ++i)
    id_.push_back(mj_name2id(model_, mjOBJ_BODY, ("b" + std::to_string(i)).c_str()));
  set_velocities();
}

Mujoco::~Mujoco() {
  if (data_ != nullptr) mj_deleteData(data_);
  if (model_ != nullptr) mj_deleteModel(model_);
}

/// `solref` and `solimp` as attributes.
std::string Mujoco::softness() const {
  if (setting_ == "default") return "";
  return " solref='" + text_of(std::array{2 * scene_.step, 1.0}) + "' solimp='0.999 0.9999 0.001'";
}

std::string Mujoco::margin() const { return setting_ == "default" ? "" : " margin='1e-6'"; }

std::string Mujoco::write_settings() const {
  const double freedoms = 6 * static_cast<double>(scene_.bodies.size());
  long contacts = 100;
  for (const PeerShape& shape : scene_.shapes) contacts += shape.kind == "sphere" ? 6 : 14;
  const long rows = (setting_ == "default" ? 4 : 3) * contacts + 3 * static_cast<long>(scene_.balls.size());
  const double r = static_cast<double>(rows);
  if (12 * r * r + 24 * r * freedoms > kMostMemory)
    complaint = "not asked: this version has no room for the matrices of so many contacts";
  std::string text = "<compiler angle='radian'/><size njmax='" + std::to_string(rows) + "' nconmax='" +
                     std::to_string(contacts) + "'/><option timestep='" + text_of(std::array{scene_.step}) +
                     "' gravity='" + text_of(scene_.gravity) + "'";
  if (setting_ != "default") text += " cone='elliptic' impratio='10' tolerance='1e-10'";
  if (setting_ == "stiff-cg") text += " solver='CG'";
  return text + "/><default><geom condim='3'" + softness() + margin() + "/></default>";
}

/// Those that hang on it come with it.
std::string Mujoco::write_body(int body, int parent) const {
  const PeerBody& b = scene_.bodies[body];
  const PeerPose pose = parent < 0 ? b.pose : make_relative(scene_.bodies[parent].pose, b.pose);
  std::string text = "<body name='b" + std::to_string(body) + "' pos='" + text_of(pose.position) + "' quat='" +
                     text_of(pose.orientation) + "'>";
  if (!is_fixed(scene_, body)) {
    const int joint = tree_.joint[body];
    if (joint < 0) {
      text += "<freejoint/>";
    } else {
      const PeerBall& ball = scene_.balls[joint];
      text += "<joint type='ball' pos='" + text_of(ball.a == body ? ball.at_a : ball.at_b) + "'/>";
    }
    text +=
        "<inertial pos='0 0 0' mass='" + text_of(std::array{b.mass}) + "' diaginertia='" + text_of(b.inertia) + "'/>";
  }
  for (const PeerShape& shape : scene_.shapes)
    if (shape.body == body) text += write_geom(shape);
  for (const int each : tree_.below[body]) text += write_body(each, body);
  return text + "</body>";
}

std::string Mujoco::write_geom(const PeerShape& shape) const {
  std::string size = text_of(shape.size);
  if (shape.kind == "plane") size = "0 0 1";
  if (shape.kind == "sphere") size = text_of(std::array{shape.size[0]});
  if (shape.kind == "capsule" || shape.kind == "cylinder") size = text_of(std::array{shape.size[0], shape.size[1]});
  return "<geom name='g" + std::to_string(&shape - scene_.shapes.data()) + "' type='" + shape.kind + "' size='" + size +
         "' pos='" + text_of(shape.pose.position) + "' quat='" + text_of(shape.pose.orientation) + "' friction='" +
         text_of(std::array{shape.friction, 0.0, 0.0}) + "'/>";
}

/// It takes the larger coefficient of a pair. Bodies for which that is not the geometric mean do not meet by
/// themselves, only in pairs of shapes that are given one by one.
std::string Mujoco::write_contact() const {
  std::string text;
  const auto name_of = [](const char* kind, std::size_t i) { return kind + std::to_string(i); };
  const auto exclude = [&](int a, int b) {
    text += "<exclude body1='" + name_of("b", a) + "' body2='" + name_of("b", b) + "'/>";
  };
  std::set<std::pair<int, int>> apart, unlike;
  for (const std::array<int, 2>& pair : scene_.apart)
    if (pair[0] >= 0 && pair[1] >= 0) apart.insert(std::minmax(pair[0], pair[1]));
  for (const PeerShape& one : scene_.shapes)
    for (const PeerShape& other : scene_.shapes) {
      if (one.body >= other.body || (is_fixed(scene_, one.body) && is_fixed(scene_, other.body))) continue;
      if (std::abs(one.friction - other.friction) > kSame && !apart.contains({one.body, other.body}))
        unlike.insert({one.body, other.body});
    }
  for (const auto& [a, b] : apart) exclude(a, b);
  for (const auto& [a, b] : unlike) exclude(a, b);
  for (std::size_t j = 0; j < scene_.shapes.size() && !unlike.empty(); ++j)
    for (std::size_t i = 0; i < scene_.shapes.size(); ++i) {
      const PeerShape &one = scene_.shapes[i], &other = scene_.shapes[j];
      if (!unlike.contains({one.body, other.body})) continue;
      const double mu = std::sqrt(one.friction * other.friction);
      text += "<pair geom1='" + name_of("g", i) + "' geom2='" + name_of("g", j) + "' condim='3' friction='" +
              text_of(std::array{mu, mu, 0.0, 0.0, 0.0}) + "'" + softness() + margin() + "/>";
    }
  return text;
}

std::string Mujoco::write_loops() const {
  std::string text;
  for (const int k : tree_.loops) {
    const PeerBall& ball = scene_.balls[k];
    const bool swap = is_fixed(scene_, ball.a);
    const int one = swap ? ball.b : ball.a, other = swap ? ball.a : ball.b;
    text += "<connect body1='b" + std::to_string(one) + "' anchor='" + text_of(swap ? ball.at_b : ball.at_a) + "'";
    if (other >= 0) text += " body2='b" + std::to_string(other) + "'";
    text += softness() + "/>";
  }
  return text;
}

void Mujoco::load(const std::string& xml) {
  if (!complaint.empty()) return;
  auto files = std::make_unique<mjVFS>();
  mj_defaultVFS(files.get());
  mj_makeEmptyFileVFS(files.get(), "scene.xml", static_cast<int>(xml.size()));
  xml.copy(static_cast<char*>(files->filedata[mj_findFileVFS(files.get(), "scene.xml")]), xml.size());
  char error[1000] = "";
  model_ = mj_loadXML("scene.xml", files.get(), error, sizeof error);
  if (model_ == nullptr) complaint = error;
  mj_deleteVFS(files.get());
}

void Mujoco::set_velocities() {
  for (std::size_t i = 0; i < scene_.bodies.size(); ++i) {
    const PeerBody& body = scene_.bodies[i];
    if (body.mass == 0) continue;
    mjtNum* speed = data_->qvel + model_->body_dofadr[id_[i]];
    std::array<double, 3> spin = body.spin;
    if (tree_.joint[i] < 0) {
      std::copy_n(body.velocity.begin(), 3, speed);
      speed += 3;
    } else {
      const PeerBall& ball = scene_.balls[tree_.joint[i]];
      const int parent = ball.a == static_cast<int>(i) ? ball.b : ball.a;
      if (!is_fixed(scene_, parent)) mju_subFrom3(spin.data(), scene_.bodies[parent].spin.data());
    }
    mjtNum back[4];
    mju_negQuat(back, body.pose.orientation.data());
    mju_rotVecQuat(speed, spin.data(), back);  // in the body's frame
  }
}

}  // namespace

int main(int count, char** words) {
  PeerScene scene;
  const std::string setting = count == 2 ? words[1] : "";
  if ((setting != "default" && setting != "stiff" && setting != "stiff-cg") || !read_peer_scene(std::cin, &scene)) {
    std::fprintf(stderr, "usage: %s default|stiff|stiff-cg < scene\n", words[0]);
    return 2;
  }
  Mujoco engine(scene, setting);
  return run_peer(scene, &engine);
}
