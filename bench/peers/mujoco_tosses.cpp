// Tosses of a cube in MuJoCo, for `slipstick validate cube-tosses`. Reads tosses from stdin, one line each:
//   friction damping_ratio time_constant half_width mass inertia frame_step parts frames, then position, quaternion,
//   velocity, angular velocity
// (world axes), and prints the position and quaternion of each frame, one line per toss. MuJoCo's contact is a spring
// and a damper: the damping ratio of its `solref` stands where other engines have a coefficient of restitution.
#include <mujoco/mujoco.h>

#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>

namespace {

struct Toss {
  double friction, ratio, time_constant, half, mass, inertia, frame_step;
  int parts, frames;
  double position[3], quaternion[4], velocity[3], spin[3];
};

bool read_toss(const std::string& line, Toss* t) {
  std::istringstream in(line);
  in >> t->friction >> t->ratio >> t->time_constant >> t->half >> t->mass >> t->inertia >> t->frame_step >> t->parts >>
      t->frames;
  for (double& x : t->position) in >> x;
  for (double& x : t->quaternion) in >> x;
  for (double& x : t->velocity) in >> x;
  for (double& x : t->spin) in >> x;
  return static_cast<bool>(in);
}

mjModel* make_model(const Toss& t) {
  char text[2048];
  std::snprintf(text, sizeof text,
                "<mujoco><option timestep='%.17g' cone='elliptic' impratio='10'/><worldbody>"
                "<geom type='plane' size='100 100 1' friction='%.17g 0 0' solref='%.17g %.17g'/>"
                "<body><freejoint/><inertial pos='0 0 0' mass='%.17g' diaginertia='%.17g %.17g %.17g'/>"
                "<geom type='box' size='%.17g %.17g %.17g' friction='%.17g 0 0' solref='%.17g "
                "%.17g'/></body></worldbody></mujoco>",
                t.frame_step / t.parts, t.friction, t.time_constant, t.ratio, t.mass, t.inertia, t.inertia, t.inertia,
                t.half, t.half, t.half, t.friction, t.time_constant, t.ratio);
  mjVFS files;
  mj_defaultVFS(&files);
  const std::string xml = text;
  mj_makeEmptyFileVFS(&files, "toss.xml", static_cast<int>(xml.size()));
  const int at = mj_findFileVFS(&files, "toss.xml");
  xml.copy(static_cast<char*>(files.filedata[at]), xml.size());
  char error[1000] = "";
  mjModel* model = mj_loadXML("toss.xml", &files, error, sizeof error);
  if (model == nullptr) std::fprintf(stderr, "%s\n", error);
  mj_deleteVFS(&files);
  return model;
}

void play(const Toss& t, mjModel* model) {
  mjData* data = mj_makeData(model);
  for (int i = 0; i < 3; ++i) data->qpos[i] = t.position[i];
  for (int i = 0; i < 4; ++i) data->qpos[3 + i] = t.quaternion[i];
  for (int i = 0; i < 3; ++i) data->qvel[i] = t.velocity[i];
  mjtNum back[4];
  mju_negQuat(back, t.quaternion);
  mju_rotVecQuat(data->qvel + 3, t.spin, back);  // a free joint's spin is in the body's frame
  for (int frame = 0; frame < t.frames; ++frame) {
    for (int i = 0; i < 7; ++i) std::printf("%.17g ", data->qpos[i]);
    for (int part = 0; part < t.parts; ++part) mj_step(model, data);
  }
  std::printf("\n");
  mj_deleteData(data);
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    Toss toss;
    if (!read_toss(line, &toss)) return 2;
    mjModel* model = make_model(toss);
    if (model == nullptr) return 1;
    play(toss, model);
    mj_deleteModel(model);
  }
  return 0;
}
