// The application's component: what the program says about itself.
#include <slipstick/app/info.h>
#include <slipstick/slipstick.h>

#include <cstdio>

int main() {
  const slipstick::BuildInfo info = slipstick::make_build_info();
  std::printf("%s\n", slipstick::make_json(info).c_str());
  return info.version == slipstick::version() ? 0 : 1;
}
