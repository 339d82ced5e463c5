#include "formats.h"
#include "matrix.h"
#include "reference.h"

namespace testing_ {
namespace {

class Softmax : public MatrixOperator {
 public:
  Softmax() : MatrixOperator(rung::Op::softmax) {}

  Verdict expect(const Case& c, uint64_t, const std::vector<unsigned char>& input, rung::Dtype dtype) const override {
    const int rows = c.sizes.rows, cols = c.sizes.cols;
    const size_t count = static_cast<size_t>(rows) * static_cast<size_t>(cols);
    const std::vector<double> x = reference::decode(input.data(), count, dtype);
    return [=, expected = reference::softmax(x, rows, cols)](const Outputs& output) {
      return compare_softmax(x, expected, output[0].data(), rows, cols, dtype);
    };
  }
};

const Softmax softmax;
[[maybe_unused]] const bool added = add_operator(softmax);

}  // namespace
}  // namespace testing_
