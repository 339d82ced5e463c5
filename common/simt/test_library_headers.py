"""The names of the C++ library that come with CUDA's own headers, without an #include of theirs."""

import unittest

from simtcc_testing import InFolder

LIMITS = ["float a = FLT_MAX;", "double b = DBL_EPSILON;", "int c = INT_MAX;"]
LIBCUXX = LIMITS + ["std::string d = \"d\";", "std::chrono::milliseconds e(1);", "std::runtime_error f(\"f\");", "const std::type_info& g = typeid(int);"]
OUTPUT = LIBCUXX + ["std::atomic<int> h(1);", "std::optional<int> i;", "std::ostream& j = std::cout;"]
# A header, and the names that nvcc 12 knows after it.
BROUGHT = {
    "cuda/std/limits": LIMITS,
    "cuda/atomic": LIBCUXX,
    "cuda/pipeline": LIBCUXX,
    "cooperative_groups.h": LIBCUXX,
    "cooperative_groups/reduce.h": LIBCUXX,
    "cub/cub.cuh": OUTPUT,
    "thrust/sort.h": OUTPUT,
    "thrust/device_vector.h": OUTPUT,
}


class LibraryHeaders(InFolder):
    def test_their_names_are_known(self):
        for number, (header, declarations) in enumerate(BROUGHT.items()):
            with self.subTest(header=header):
                self.write(f"a{number}.cu", f"#include <{header}>\n__global__ void k(float* x) {{ x[0] = FLT_MAX; }}\n" + "\n".join(declarations) + "\n")
                self.builds("-c", f"a{number}.cu", "-o", "a.o")


if __name__ == "__main__":
    unittest.main()
