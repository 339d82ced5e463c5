// What kernels read and write through surface objects: the bytes of a CUDA array. The executor says where they lie
// (surfaces.cpp); the kernel accesses them by ordinary loads and stores, so that they are checked and counted.
#pragma once

#include "textures.h"

namespace simt {

// x in bytes, y and z in rows and slices; layer: -1 for none.
struct SurfacePlace {
  int dimensions, x, y, z, layer;
};
// Null if the place is beyond the array, and the mode is Zero.
void* surface_at(cudaSurfaceObject_t object, const SurfacePlace& at, unsigned bytes, cudaSurfaceBoundaryMode mode,
                 Place place) noexcept;

template <typename T>
constexpr bool is_surface_type = sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0;

}  // namespace simt

#define SIMT_SURFACE_END \
  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define SIMT_SURFACE(name, parameters, arguments, ...)                                                                 \
  template <typename T>                                                                                                \
  T name##read(cudaSurfaceObject_t object, SIMT_LIST parameters, SIMT_SURFACE_END) {                                   \
    static_assert(simt::is_surface_type<T>, "a surface is read by 1, 2, 4, 8 or 16 bytes");                            \
    const void* const from = simt::surface_at(object, {__VA_ARGS__}, sizeof(T), mode, {file, line, simt::Call::none}); \
    return from ? *static_cast<const T*>(from) : T();                                                                  \
  }                                                                                                                    \
  template <typename T>                                                                                                \
  void name##read(T* to, cudaSurfaceObject_t object, SIMT_LIST parameters, SIMT_SURFACE_END) {                         \
    *to = name##read<T>(object, SIMT_LIST arguments, mode, file, line);                                                \
  }                                                                                                                    \
  template <typename T>                                                                                                \
  void name##write(T value, cudaSurfaceObject_t object, SIMT_LIST parameters, SIMT_SURFACE_END) {                      \
    static_assert(simt::is_surface_type<T>, "a surface is written by 1, 2, 4, 8 or 16 bytes");                         \
    void* const to = simt::surface_at(object, {__VA_ARGS__}, sizeof(T), mode, {file, line, simt::Call::none});         \
    if (to) *static_cast<T*>(to) = value;                                                                              \
  }
#define SIMT_LIST(...) __VA_ARGS__
SIMT_SURFACE(surf1D, (int x), (x), 1, x, 0, 0, -1)
SIMT_SURFACE(surf2D, (int x, int y), (x, y), 2, x, y, 0, -1)
SIMT_SURFACE(surf3D, (int x, int y, int z), (x, y, z), 3, x, y, z, -1)
SIMT_SURFACE(surf1DLayered, (int x, int layer), (x, layer), 1, x, 0, 0, layer)
SIMT_SURFACE(surf2DLayered, (int x, int y, int layer), (x, y, layer), 2, x, y, 0, layer)
#undef SIMT_LIST
#undef SIMT_SURFACE
#undef SIMT_SURFACE_END
