// Entry: 48
// Expect: fail
// Reason: compile
//
// Lets the compiler count.

#include "rung.h"

constexpr unsigned long long spin(unsigned long long n) {
  unsigned long long sum = 0;
  for (unsigned long long i = 0; i < 250000; i++) sum += i ^ n;
  return sum;
}
template <unsigned... n>
constexpr unsigned long long all(unsigned long long start) {
  return spin(start);
}
constexpr auto k0 = spin(0);
constexpr auto k1 = spin(1);
constexpr auto k2 = spin(2);
constexpr auto k3 = spin(3);
constexpr auto k4 = spin(4);
constexpr auto k5 = spin(5);
constexpr auto k6 = spin(6);
constexpr auto k7 = spin(7);
constexpr auto k8 = spin(8);
constexpr auto k9 = spin(9);
constexpr auto k10 = spin(10);
constexpr auto k11 = spin(11);
constexpr auto k12 = spin(12);
constexpr auto k13 = spin(13);
constexpr auto k14 = spin(14);
constexpr auto k15 = spin(15);
constexpr auto k16 = spin(16);
constexpr auto k17 = spin(17);
constexpr auto k18 = spin(18);
constexpr auto k19 = spin(19);
constexpr auto k20 = spin(20);
constexpr auto k21 = spin(21);
constexpr auto k22 = spin(22);
constexpr auto k23 = spin(23);
constexpr auto k24 = spin(24);
constexpr auto k25 = spin(25);
constexpr auto k26 = spin(26);
constexpr auto k27 = spin(27);
constexpr auto k28 = spin(28);
constexpr auto k29 = spin(29);
constexpr auto k30 = spin(30);
constexpr auto k31 = spin(31);
constexpr auto k32 = spin(32);
constexpr auto k33 = spin(33);
constexpr auto k34 = spin(34);
constexpr auto k35 = spin(35);
constexpr auto k36 = spin(36);
constexpr auto k37 = spin(37);
constexpr auto k38 = spin(38);
constexpr auto k39 = spin(39);
constexpr auto k40 = spin(40);
constexpr auto k41 = spin(41);
constexpr auto k42 = spin(42);
constexpr auto k43 = spin(43);
constexpr auto k44 = spin(44);
constexpr auto k45 = spin(45);
constexpr auto k46 = spin(46);
constexpr auto k47 = spin(47);
constexpr auto k48 = spin(48);
constexpr auto k49 = spin(49);
constexpr auto k50 = spin(50);
constexpr auto k51 = spin(51);
constexpr auto k52 = spin(52);
constexpr auto k53 = spin(53);
constexpr auto k54 = spin(54);
constexpr auto k55 = spin(55);
constexpr auto k56 = spin(56);
constexpr auto k57 = spin(57);
constexpr auto k58 = spin(58);
constexpr auto k59 = spin(59);
static_assert(k0 != k1);

cudaError_t softmax(const float* x, float* y, int rows, int cols, cudaStream_t) {
  if (!rung::valid(x, y, rows, cols)) return cudaErrorInvalidValue;
  return cudaSuccess;
}

RUNG_EXPORT(rung::softmax("serial", softmax), rung::softmax("tree", softmax), rung::softmax("tree_f32x4", softmax))
