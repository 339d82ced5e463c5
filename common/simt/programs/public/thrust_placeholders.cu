// Thrust with placeholders in place of functors, reversed vectors, a strided range as Thrust's examples have it, and
// algorithms that exchange and choose items.
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/replace.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/swap.h>
#include <thrust/transform.h>

#include <cstdio>
#include <initializer_list>

using namespace thrust::placeholders;

static int wrong = 0;
template <typename T>
void expect(const thrust::device_vector<T>& found, std::initializer_list<T> wanted, const char* what) {
  if (found == std::vector<T>(wanted)) return;
  printf("FAIL %s:", what), wrong++;
  for (size_t i = 0; i < found.size(); i++) printf(" %g", double(T(found[i])));
  printf("\n");
}

template <typename Iterator>
class strided_range {
 public:
  typedef typename thrust::iterator_difference<Iterator>::type difference_type;
  struct stride_functor : public thrust::unary_function<difference_type, difference_type> {
    difference_type stride;
    stride_functor(difference_type stride) : stride(stride) {}
    __host__ __device__ difference_type operator()(const difference_type& i) const { return stride * i; }
  };
  typedef typename thrust::counting_iterator<difference_type> CountingIterator;
  typedef typename thrust::transform_iterator<stride_functor, CountingIterator> TransformIterator;
  typedef typename thrust::permutation_iterator<Iterator, TransformIterator> PermutationIterator;
  typedef PermutationIterator iterator;
  strided_range(Iterator first, Iterator last, difference_type stride) : first(first), last(last), stride(stride) {}
  iterator begin() const {
    return PermutationIterator(first, TransformIterator(CountingIterator(0), stride_functor(stride)));
  }
  iterator end() const { return begin() + ((last - first) + (stride - 1)) / stride; }

 protected:
  Iterator first, last;
  difference_type stride;
};

int main() {
  thrust::device_vector<float> x(6, 1), y(6);
  thrust::sequence(y.begin(), y.end());
  const float a = 2;
  thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), a * _1 + _2 / 2.0f - 1.0f);
  expect(y, {1.0f, 1.5f, 2.0f, 2.5f, 3.0f, 3.5f}, "saxpy");
  thrust::for_each(y.begin(), y.end(), _1 *= 2.0f);
  thrust::for_each(y.begin(), y.begin() + 2, _1 = -_1);
  expect(y, {-2.0f, -3.0f, 4.0f, 5.0f, 6.0f, 7.0f}, "assignments");
  if (thrust::count_if(y.begin(), y.end(), _1 > 0.0f && _1 != 5.0f && !(_1 >= 7.0f)) != 2) wrong++;
  if (thrust::reduce(y.begin(), y.end(), 1.0f, _2 + _1) != 18) wrong++;
  strided_range<thrust::device_vector<float>::iterator> even(y.begin(), y.end(), 2);
  if (thrust::reduce(even.begin(), even.end()) != 8) wrong++;
  thrust::fill(even.begin(), even.end(), 0.0f);
  expect(y, {0.0f, -3.0f, 0.0f, 5.0f, 0.0f, 7.0f}, "a strided range");
  thrust::replace(y.begin(), y.end(), 0.0f, 9.0f);
  thrust::swap_ranges(x.begin(), x.begin() + 3, y.begin());
  expect(x, {9.0f, -3.0f, 9.0f, 1.0f, 1.0f, 1.0f}, "exchanged");
  expect(y, {1.0f, 1.0f, 1.0f, 5.0f, 9.0f, 7.0f}, "exchanged too");

  thrust::device_vector<int> k(5), v(5);
  thrust::sequence(k.rbegin(), k.rend());
  thrust::sequence(v.begin(), v.end(), 10);
  thrust::sort_by_key(k.begin(), k.end(), v.begin());
  expect(v, {14, 13, 12, 11, 10}, "backwards");
  v.erase(thrust::remove_if(v.begin(), v.end(), (_1 & 1) == 0 || _1 % 11 == 0), v.end());
  expect(v, {13}, "removed");
  thrust::device_vector<int> out(5, -1), places{4, 2, 0, 1, 3}, chosen{1, 0, 1, 1, 0};
  thrust::scatter_if(k.begin(), k.end(), places.begin(), chosen.begin(), out.begin());
  expect(out, {2, 3, -1, -1, 0}, "scattered");
  thrust::gather_if(places.begin(), places.end(), chosen.begin(), k.begin(), out.begin());
  expect(out, {4, 3, 0, 1, 0}, "gathered");
  thrust::scatter_if(k.begin(), k.end(), places.begin(), k.begin(), out.begin(), _1 >= 3);
  expect(out, {4, 3, 0, 4, 0}, "scattered by a predicate");
  static_assert(thrust::tuple_size<thrust::tuple<int, float>>::value == 2);
  printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
