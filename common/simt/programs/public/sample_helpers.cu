// A program that includes the helpers of CUDA's samples and does not bring them.
#include <cuda_runtime.h>
#include <helper_cuda.h>
#include <helper_functions.h>
#include <helper_math.h>

#include <cstdio>

__global__ void shade(const float3* normals, float4* colours, float3 light, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float3 normal = normalize(normals[i]);
  const float3 bounced = reflect(-light, normal);
  const float diffuse = clamp(dot(normal, light), 0.0f, 1.0f);
  float3 colour = lerp(make_float3(0.25f), make_float3(1.0f, 0.5f, 0.25f), diffuse);
  colour += 0.125f * fmaxf(bounced, make_float3(0.0f));
  colours[i] = clamp(make_float4(cross(colour, make_float3(0, 0, 1)), length(colour)), 0.0f, 1.0f);
}

static int wrong = 0;
static void expect(bool is_right, const char* what) {
  if (!is_right) printf("FAIL %s\n", what), wrong++;
}

int main(int argc, char** argv) {
  const int n = 100;
  const char* given[] = {argv[0], "-size=12", "--name=lena.pgm", "-scale=0.5", "-quiet"};
  char* name = nullptr;
  expect(getCmdLineArgumentInt(5, given, "size") == 12 && getCmdLineArgumentFloat(5, given, "scale") == 0.5f &&
             getCmdLineArgumentString(5, given, "name", &name) && std::string(name) == "lena.pgm" &&
             checkCmdLineFlag(5, given, "quiet") && !checkCmdLineFlag(5, given, "loud"),
         "options");
  expect(findCudaDevice(argc, (const char**)argv) == 0, "the device");
  expect(checkCudaCapabilities(7, 0) && !checkCudaCapabilities(99, 0), "capabilities");

  StopWatchInterface* timer = nullptr;
  sdkCreateTimer(&timer);
  sdkStartTimer(&timer);
  float3* normals;
  float4* colours;
  checkCudaErrors(cudaMallocManaged(&normals, n * sizeof(float3)));
  checkCudaErrors(cudaMallocManaged(&colours, n * sizeof(float4)));
  for (int i = 0; i < n; i++) normals[i] = make_float3(i % 7 - 3, i % 5 - 2, 1);
  const float3 light = make_float3(0, 0, 1);
  shade<<<(n + 31) / 32, 32>>>(normals, colours, light, n);
  getLastCudaError("shade");
  checkCudaErrors(cudaDeviceSynchronize());
  sdkStopTimer(&timer);
  expect(sdkGetTimerValue(&timer) > 0 && sdkGetAverageTimerValue(&timer) == sdkGetTimerValue(&timer), "the timer");
  sdkDeleteTimer(&timer);
  for (int i = 0; i < n; i++) {
    const float l = sqrtf(normals[i].x * normals[i].x + normals[i].y * normals[i].y + 1);
    const float x = normals[i].x / l, y = normals[i].y / l, z = 1 / l;
    const float bx = 2 * z * x, by = 2 * z * y, bz = 2 * z * z - 1;
    const float r = 0.25f + z * 0.75f + 0.125f * fmaxf(bx, 0), g = 0.25f + z * 0.25f + 0.125f * fmaxf(by, 0);
    const float b = 0.25f + 0.125f * fmaxf(bz, 0);
    const float4 c = colours[i];
    const float size = fminf(sqrtf(r * r + g * g + b * b), 1);
    if (fabsf(c.x - fminf(g, 1)) > 1e-5f || c.y != 0 || fabsf(c.w - size) > 1e-5f) wrong++;
  }

  unsigned char gray[12], *again = nullptr;
  for (int i = 0; i < 12; i++) gray[i] = 20 * i;
  unsigned w = 0, h = 0;
  const bool saved = sdkSavePGM("sample_helpers.pgm", gray, 4, 3) && sdkLoadPGM("sample_helpers.pgm", &again, &w, &h);
  expect(saved && w == 4 && h == 3 && compareData(gray, again, 12, 0.0f, 0.0f), "an image");
  free(again);
  char* const found = sdkFindFilePath("sample_helpers.pgm", argv[0]);
  expect(found != nullptr && !sdkFindFilePath("no_such_file", argv[0]), "a path");
  free(found);
  remove("sample_helpers.pgm");
  printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
