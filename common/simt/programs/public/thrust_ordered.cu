// Thrust on sorted arrays: searches, merges and sets; partitions and reversed ranges; held against the standard
// library's.
#include <thrust/binary_search.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/reverse_iterator.h>
#include <thrust/merge.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/reverse.h>
#include <thrust/scan.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/unique.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <sstream>
#include <vector>

int wrong = 0;
void expect(bool is, const char* what) {
  if (!is) printf("%s is wrong\n", what), wrong++;
}
template <typename T>
std::vector<T> on_host(const thrust::device_vector<T>& values, size_t count) {
  std::vector<T> host(count);
  thrust::copy(values.begin(), values.begin() + count, host.begin());
  return host;
}
struct IsSmall {
  __host__ __device__ bool operator()(int x) const { return x % 10 < 4; }
};

template <typename OnDevice, typename OnHost>
void set_is(const char* what, const std::vector<int>& a, const std::vector<int>& b, OnDevice on_device,
            OnHost on_host_) {
  thrust::device_vector<int> da = a, db = b, out(a.size() + b.size());
  const size_t count = on_device(da, db, out) - out.begin();
  std::vector<int> expected(a.size() + b.size());
  expected.resize(on_host_(a, b, expected.begin()) - expected.begin());
  expect(on_host(out, count) == expected, what);
}
#define SET_IS(name)                                                                                                 \
  set_is(                                                                                                            \
      #name, a, b,                                                                                                   \
      [](auto& x, auto& y, auto& out) { return thrust::name(x.begin(), x.end(), y.begin(), y.end(), out.begin()); }, \
      [](auto& x, auto& y, auto out) { return std::name(x.begin(), x.end(), y.begin(), y.end(), out); })

int main() {
  std::vector<int> a, b;
  for (int i = 0; i < 300; i++) a.push_back(i * 37 % 211 / 2);
  for (int i = 0; i < 200; i++) b.push_back(i * 53 % 307 / 3);
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  SET_IS(merge);
  SET_IS(set_union);
  SET_IS(set_intersection);
  SET_IS(set_difference);
  SET_IS(set_symmetric_difference);

  thrust::device_vector<int> sorted = a, sought = b, places(b.size());
  thrust::device_vector<bool> found(b.size());
  expect(thrust::lower_bound(sorted.begin(), sorted.end(), 50) - sorted.begin() ==
             std::lower_bound(a.begin(), a.end(), 50) - a.begin(),
         "lower_bound");
  expect(thrust::upper_bound(thrust::device, sorted.begin(), sorted.end(), 50) - sorted.begin() ==
             std::upper_bound(a.begin(), a.end(), 50) - a.begin(),
         "upper_bound");
  const auto range = thrust::equal_range(sorted.begin(), sorted.end(), 17);
  expect(range.second - range.first == std::count(a.begin(), a.end(), 17), "equal_range");
  expect(thrust::binary_search(sorted.begin(), sorted.end(), a[5]) &&
             !thrust::binary_search(sorted.begin(), sorted.end(), -3),
         "binary_search");
  thrust::lower_bound(sorted.begin(), sorted.end(), sought.begin(), sought.end(), places.begin());
  thrust::binary_search(sorted.begin(), sorted.end(), sought.begin(), sought.end(), found.begin());
  for (size_t i = 0; i < b.size(); i++) {
    expect(places[i] == std::lower_bound(a.begin(), a.end(), b[i]) - a.begin(), "lower_bound of many");
    expect(found[i] == std::binary_search(a.begin(), a.end(), b[i]), "binary_search of many");
  }
  // A histogram of sorted data, as the samples make it.
  thrust::device_vector<int> until(120);
  thrust::counting_iterator<int> bins(0);
  thrust::upper_bound(sorted.begin(), sorted.end(), bins, bins + 120, until.begin());
  for (int i = 0; i < 120; i++)
    expect(until[i] == std::upper_bound(a.begin(), a.end(), i) - a.begin(), "upper_bound of a range");

  thrust::device_vector<int> keys(500), values(500), value_a(300, 1), value_b(200, 2);
  thrust::merge_by_key(sorted.begin(), sorted.end(), sought.begin(), sought.end(), value_a.begin(), value_b.begin(),
                       keys.begin(), values.begin());
  expect(thrust::reduce(values.begin(), values.end()) == 700 && std::is_sorted(a.begin(), a.end()), "merge_by_key");
  const auto merged_keys = on_host(keys, 500), merged_values = on_host(values, 500);
  for (int i = 1; i < 500; i++)
    expect(merged_keys[i - 1] < merged_keys[i] ||
               (merged_keys[i - 1] == merged_keys[i] && merged_values[i - 1] <= merged_values[i]),
           "merge_by_key's order");

  std::vector<int> mixed(257), expected;
  for (int i = 0; i < 257; i++) mixed[i] = i * 71 % 257;
  expected = mixed;
  thrust::device_vector<int> parts = mixed, yes(257), no(257);
  const auto middle = thrust::stable_partition(parts.begin(), parts.end(), IsSmall());
  const auto expected_middle = std::stable_partition(expected.begin(), expected.end(), IsSmall());
  expect(middle - parts.begin() == expected_middle - expected.begin() && on_host(parts, 257) == expected,
         "stable_partition");
  parts = mixed;
  const auto ends = thrust::partition_copy(parts.begin(), parts.end(), yes.begin(), no.begin(), IsSmall());
  expect(ends.first - yes.begin() == middle - parts.begin() ||
             ends.first - yes.begin() == expected_middle - expected.begin(),
         "partition_copy");

  thrust::reverse(parts.begin(), parts.end());
  std::reverse(mixed.begin(), mixed.end());
  expect(on_host(parts, 257) == mixed, "reverse");
  thrust::inclusive_scan(thrust::make_reverse_iterator(parts.end()), thrust::make_reverse_iterator(parts.begin()),
                         yes.begin());
  int sum = 0;
  for (int i = 0; i < 257; i++) expect(yes[i] == (sum += mixed[256 - i]), "a scan of a reversed range");
  std::vector<int> host = {3, 1, 2};
  thrust::reverse(thrust::host, host.begin(), host.end());
  expect(host[0] == 2 && host[2] == 3, "reverse on the host");

  const std::vector<int> labels = {4, 4, 4, 7, 7, 4}, ones(6, 1);
  thrust::device_vector<int> label = labels, one = ones, run(6);
  thrust::inclusive_scan_by_key(label.begin(), label.end(), one.begin(), run.begin());
  expect(on_host(run, 6) == std::vector<int>{1, 2, 3, 1, 2, 1}, "inclusive_scan_by_key");
  thrust::exclusive_scan_by_key(label.begin(), label.end(), one.begin(), run.begin(), 10);
  expect(on_host(run, 6) == std::vector<int>{10, 11, 12, 10, 11, 10}, "exclusive_scan_by_key");
  thrust::inclusive_scan_by_key(thrust::device, label.begin(), label.end(), label.begin(), run.begin(),
                                thrust::equal_to<int>(), thrust::maximum<int>());
  expect(on_host(run, 6) == labels, "inclusive_scan_by_key with a function");

  thrust::device_vector<int> first_of(6), starts(6);
  const auto kept = thrust::unique_by_key_copy(label.begin(), label.end(), thrust::counting_iterator<int>(0),
                                               first_of.begin(), starts.begin());
  expect(kept.first - first_of.begin() == 3 && kept.second - starts.begin() == 3, "how many keys are kept");
  expect(on_host(first_of, 3) == std::vector<int>{4, 7, 4} && on_host(starts, 3) == std::vector<int>{0, 3, 5},
         "unique_by_key_copy");
  thrust::adjacent_difference(label.begin(), label.end(), starts.begin(), thrust::not_equal_to<int>());
  expect(on_host(starts, 6) == std::vector<int>{4, 0, 0, 1, 0, 1}, "adjacent_difference with a function");

  // As a std::vector, and printed as the samples print.
  thrust::host_vector<int> on_the_host = labels;
  run = labels;
  expect(*run.insert(run.begin() + 1, 9) == 9, "insert's iterator");
  run.insert(run.end(), 2, 8);
  run.insert(run.begin(), host.begin(), host.end());
  std::ostringstream of_device, of_host;
  thrust::copy(run.begin(), run.end(), std::ostream_iterator<int>(of_device, " "));
  thrust::copy(on_the_host.begin(), on_the_host.end(), std::ostream_iterator<int>(of_host, " "));
  expect(of_device.str() == "2 1 3 4 9 4 4 7 7 4 8 8 ", "insert, or a copy to a stream");
  expect(of_host.str() == "4 4 4 7 7 4 ", "a copy from the host to a stream");
  printf("%s\n", wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
