// Functions of floats that are computed in double precision here and not on a GPU: what they cost there is that of
// their name (timing/operations/costs.py), so that they have a file of their own.
#pragma once

#include <math.h>

// Of doubles alone: <cmath> has a function of its own for a float and a double, which would be inlined here.
inline float sinpif(float x) {
  return static_cast<float>(sin(3.14159265358979323846 * fmod(static_cast<double>(x), 2.0)));
}
inline float cospif(float x) {
  return static_cast<float>(cos(3.14159265358979323846 * fmod(static_cast<double>(x), 2.0)));
}
inline void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }
inline float normcdff(float x) { return static_cast<float>(0.5 * erfc(-x * 0.70710678118654752440)); }
