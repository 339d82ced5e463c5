// Cubemaps: as the CUDA C++ programming guide numbers the faces and turns them.
#pragma once

#include <cmath>

namespace simt {

// The face of a cube that a direction meets, and where, from -1 to 1.
struct OnFace {
  int face;
  float s, t;
};
inline OnFace on_face(float x, float y, float z) {
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  if (ax >= ay && ax >= az) return x >= 0 ? OnFace{0, -z / ax, -y / ax} : OnFace{1, z / ax, -y / ax};
  if (ay >= az) return y >= 0 ? OnFace{2, x / ay, z / ay} : OnFace{3, x / ay, -z / ay};
  return z >= 0 ? OnFace{4, x / az, -y / az} : OnFace{5, -x / az, -y / az};
}

}  // namespace simt
