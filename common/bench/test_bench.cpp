// Tests of the benchmark's own parts: what a results file keeps and what it refuses, the matrix file and the summary of
// repeats.
#include "catch2_any.h"
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "count.h"
#include "error.h"
#include "logits.h"
#include "machine.h"
#include "measure.h"
#include "results.h"
#include "timing.h"

namespace {

namespace fs = std::filesystem;
using bench::Json;

// A folder that is gone when the test ends.
struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "bench-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  std::string file(const char* name) const { return (path / name).string(); }
};

std::string read(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

bench::Point point(const char* variant, double seconds) {
  bench::Point point;
  point.source = "solution";
  point.lab = "lab02_smem";
  point.variant = variant;
  point.input = "normal";
  point.rows = 64;
  point.cols = 4096;
  point.timing = bench::summarise({seconds});
  return point;
}

// The message of the Error that opening the file throws; "" if it throws none.
std::string refusal(const std::string& path) {
  try {
    bench::Results results(path, "a machine", "cpu");
  } catch (const bench::Error& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a new results file says where its points come from") {
  Folder folder;
  const std::string path = folder.file("new/results.json");
  bench::Results results(path, "a machine", "cpu");
  results.set_command("make ladder");
  results.set_roofs({{"copy_gbs", 12.5}});
  results.put(point("tree", 1.25e-3));
  results.save();

  const Json file = Json::parse(read(path));
  CHECK(file["machine"] == "a machine");
  CHECK(file["backend"] == "cpu");
  CHECK(file["command"] == "make ladder");
  CHECK(file["date"] == bench::today());
  CHECK(file["roofs"]["copy_gbs"] == 12.5);
  REQUIRE(file["points"].size() == 1);
  const Json& saved = file["points"][0];
  CHECK(saved["op"] == "softmax");
  CHECK(saved["dtype"] == "f32");
  CHECK(saved["seconds"] == 1.25e-3);
  CHECK(saved["launches"] == 1);
  CHECK(saved["nominal_bytes"] == 2 * 4 * 64 * 4096);
  CHECK(saved["nominal_flops"] == 5 * 64 * 4096);
}

TEST_CASE("a footprint that no memory could deliver in the time is not that of the run") {
  Folder folder;
  bench::Traffic traffic;
  traffic.footprint_bytes = 2000000000;
  bench::Results gpu(folder.file("gpu.json"), "a machine", "cuda");
  CHECK(gpu.contradiction(traffic, 1).empty());  // no roof is known
  gpu.set_roofs({{"read_gbs", 1000}});
  CHECK(gpu.contradiction(traffic, 0.002).empty());
  CHECK(contains(gpu.contradiction(traffic, 0.001), "another path"));
  bench::Results cpu(folder.file("cpu.json"), "a machine", "cpu");
  cpu.set_roofs({{"read_gbs", 1000}});
  CHECK(cpu.contradiction(traffic, 0.001).empty());
}

TEST_CASE("a point replaces the one with its key and leaves the others alone") {
  Folder folder;
  const std::string path = folder.file("results.json");
  {
    bench::Results results(path, "a machine", "cpu");
    results.put(point("serial", 1));
    results.put(point("tree", 2));
    results.save();
  }
  bench::Results results(path, "a machine", "cpu");
  results.put(point("serial", 3));

  bench::Point other = point("serial", 4);
  SECTION("source") { other.source = "student"; }
  SECTION("lab") { other.lab = "lab03_online"; }
  SECTION("variant") { other.variant = "online"; }
  SECTION("dtype") { other.dtype = rung::Dtype::bf16; }
  SECTION("input") { other.input = "bigrams"; }
  SECTION("rows") { other.rows = 1; }
  SECTION("cols") { other.cols = 50257; }
  SECTION("k") { other.k = 50; }
  results.put(other);
  results.save();

  const Json points = Json::parse(read(path))["points"];
  REQUIRE(points.size() == 3);
  CHECK(points[0]["seconds"] == 3.0);
  CHECK(points[1]["seconds"] == 2.0);
  CHECK(points[2]["seconds"] == 4.0);
}

TEST_CASE("what the file says besides is kept") {
  Folder folder;
  const std::string path = folder.file("results.json");
  write(path,
        R"({"machine": "a machine", "backend": "cpu", "remark": "warm room",
                "command": "c", "roofs": {"x": 1}, "points": []})");
  bench::Results results(path, "a machine", "cpu");
  results.put(point("tree", 1));
  results.save();
  const Json file = Json::parse(read(path));
  CHECK(file["remark"] == "warm room");
  CHECK(file["command"] == "c");
  CHECK(file["roofs"]["x"] == 1);
  CHECK(file["points"].size() == 1);
}

TEST_CASE("a file that is no results file of this machine is refused and stays as it is") {
  Folder folder;
  const std::string path = folder.file("results.json");
  const struct {
    const char *contents, *message;
  } cases[] = {
      {"", "not valid JSON"},
      {R"({"machine": "a machine", "points": [)", "not valid JSON"},
      {"[1, 2]", "expected a JSON object, got array"},
      {"{}", "no \"machine\""},
      {R"({"machine": "another", "backend": "cpu", "points": []})", "results of machine \"another\""},
      {R"({"machine": "a machine", "backend": "cuda", "points": []})", "results of backend \"cuda\""},
      {R"({"machine": "a machine", "backend": "cpu"})", "no list \"points\""},
      {R"({"machine": "a machine", "backend": "cpu", "points": [{"source": "s"}]})", "point 1 has no \"lab\""},
      {R"({"machine": "a machine", "backend": "cpu", "points": [7]})", "point 1 has no \"source\""},
  };
  for (const auto& c : cases) {
    INFO(c.contents);
    write(path, c.contents);
    CHECK(contains(refusal(path), c.message));
    CHECK(read(path) == c.contents);
  }
}

TEST_CASE("a path that cannot be written is refused before anything is measured") {
  Folder folder;
  write(folder.file("file"), "x");
  CHECK(contains(refusal(folder.file("file/results.json")), "no such folder"));
  CHECK(contains(refusal(folder.path.string()), "is a folder"));
}

TEST_CASE("a save that fails leaves the old file and nothing beside it") {
  Folder folder;
  const std::string path = folder.file("results.json");
  bench::Results results(path, "a machine", "cpu");
  results.put(point("tree", 1));
  results.save();
  const std::string before = read(path);

  // As on a full disk: no file may grow beyond 100 bytes.
  rlimit unlimited{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &unlimited) == 0);
  const rlimit small = {100, unlimited.rlim_max};
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  results.put(point("serial", 2));
  std::string message;
  try {
    results.save();
  } catch (const bench::Error& error) {
    message = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &unlimited);
  std::signal(SIGXFSZ, old_handler);
  CHECK(contains(message, "cannot be written: File too large"));
  CHECK(read(path) == before);
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 1);

  results.save();
  CHECK(Json::parse(read(path))["points"].size() == 2);
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("roofs are taken only whole, and only from this machine") {
  Folder folder;
  const std::string path = folder.file("roofs.json");
  Json roofs = {{"machine", "a machine"}, {"cores", 2},          {"date", "2026-01-01"}, {"copy_gbs", 10.0},
                {"read_gbs", 12.0},       {"fma_gflops", 100.0}, {"exp_gops", 1.0},      {"buffer_mib", 64}};
  write(path, roofs.dump());
  const Json taken = bench::read_roofs(path, "a machine");
  CHECK(taken["copy_gbs"] == 10.0);
  CHECK(taken["buffer_mib"] == 64);
  CHECK_FALSE(taken.contains("machine"));
  CHECK_THROWS_AS(bench::read_roofs(path, "another machine"), bench::Error);
  CHECK_THROWS_AS(bench::read_roofs(folder.file("missing.json"), "a machine"), bench::Error);

  roofs["exp_gops"] = 0;
  write(path, roofs.dump());
  CHECK_THROWS_AS(bench::read_roofs(path, "a machine"), bench::Error);
}

TEST_CASE("nominal bytes count each element once on every way it must go") {
  using rung::Dtype;
  using rung::Op;
  CHECK(testing_::operator_of(Op::softmax).bytes({3, 5, {}}, Dtype::f32) == 3 * 5 * 4 * 2);
  CHECK(testing_::operator_of(Op::softmax).bytes({3, 5, {}}, Dtype::f16) == 3 * 5 * 2 * 2);
  CHECK(testing_::operator_of(Op::softmax_topk).bytes({3, 5, {2}}, Dtype::bf16) == 3 * 5 * 2 + 3 * 2 * 8);
  CHECK(testing_::operator_of(Op::softmax).bytes({1 << 16, 1 << 16, {}}, Dtype::f32) == 8.0 * 65536 * 65536);
}

TEST_CASE("counts go into a point, and only where something was counted") {
  Folder folder;
  const std::string path = folder.file("results.json");
  bench::Results results(path, "a machine", "cpu");
  bench::Point counted = point("tree", 1);
  counted.traffic = {1000, 500, 8};
  results.put(counted);
  results.put(point("serial", 1));
  results.save();
  const Json points = Json::parse(read(path))["points"];
  CHECK(points[0]["l1_bytes"] == 1000);
  CHECK(points[0]["footprint_bytes"] == 500);
  CHECK(points[0]["counted_rows"] == 8);
  for (const char* field : {"l1_bytes", "footprint_bytes", "counted_rows"}) CHECK_FALSE(points[1].contains(field));
}

TEST_CASE("a part of the rows is counted only if the others repeat it") {
  using rung::Dtype;
  using rung::Op;
  const auto rows = [](Dtype dtype, int rows, int cols, int most = 1 << 30) {
    return bench::rows_to_count({"v", Op::softmax, dtype}, rows, cols, 0, most);
  };
  CHECK(rows(Dtype::f32, 64, 4096) == 64);      // small: all of it
  CHECK(rows(Dtype::f32, 4096, 4096) == 32);    // one row per lane
  CHECK(rows(Dtype::f32, 4100, 4096) == 4100);  // 32 does not divide it
  CHECK(rows(Dtype::f32, 4096, 4096, 8) == 8);  // every row begins at a sector's beginning
  CHECK(rows(Dtype::f32, 64, 50257, 2) == 8);   // it takes 8 rows of 4 x 50257 bytes until one does so again
  CHECK(rows(Dtype::f16, 64, 50257, 2) == 16);  // and 16 of half as many bytes
  CHECK(rows(Dtype::f32, 60, 50257, 2) == 60);
  CHECK(bench::rows_to_count({"v", Op::softmax_topk, Dtype::f32}, 64, 1 << 20, 5, 2) == 8);  // outputs of 20 bytes
}

TEST_CASE("a job has all of the input that its plan says, and no more") {
  for (int op = 0; op < rung::operator_count; op++) {
    const rung::VariantInfo variant = {"v", static_cast<rung::Op>(op), rung::Dtype::f16};
    if (rung::arguments_of(variant.op).many_launches) continue;
    INFO(rung::name_of(variant.op));
    bench::Workload workload(bench::normal_logits(16, 40), 16, 40, 3);
    const std::vector<unsigned char>& input = workload.input(variant);
    CHECK(input.size() >= 16 * 40 * sizeof(uint16_t));
    CHECK(bench::job_of(variant, 0, workload, 1).input_bytes == input.size());
  }
}

TEST_CASE("a report's launches are added up in sectors of 32 bytes") {
  const auto launch = [](int loads, int stores, int atomics, int read, int written) {
    const std::string name = "\"l1tex__t_sectors_pipe_lsu_mem_global_op_";
    return R"({"footprint": {"sectors_read": )" + std::to_string(read) + R"(, "sectors_written": )" +
           std::to_string(written) + R"(}, "total": {)" + name + "ld.sum\": " + std::to_string(loads) + ", " + name +
           "st.sum\": " + std::to_string(stores) + ", " + name + "atom.sum\": " + std::to_string(atomics) + "}}";
  };
  const bench::Traffic traffic =
      bench::traffic_of("{\"launches\": [" + launch(10, 20, 3, 5, 6) + ", " + launch(1, 0, 0, 1, 0) + "]}");
  CHECK(traffic.l1_bytes == 34 * 32);
  CHECK(traffic.footprint_bytes == 12 * 32);
  CHECK_THROWS_AS(bench::traffic_of("{}"), bench::Error);
  CHECK_THROWS_AS(bench::traffic_of("no JSON"), bench::Error);
}

TEST_CASE("repeats are summarised by median and range") {
  const bench::Timing odd = bench::summarise({3, 1, 100});
  CHECK(odd.median == 3);
  CHECK(odd.min == 1);
  CHECK(odd.max == 100);
  CHECK(odd.launches == 3);
  CHECK(bench::summarise({4, 1, 2, 100}).median == 3);
  CHECK(bench::summarise({}).launches == 0);
}

TEST_CASE("the machine's name makes a file name") {
  CHECK(contains(bench::machine_name(), "core"));
  CHECK(bench::machine_slug().find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos);
  CHECK_FALSE(bench::machine_slug().empty());
}

TEST_CASE("a matrix is taken only if the file has its size") {
  Folder folder;
  const std::string path = folder.file("m.f32");
  const float values[] = {1, 2, 3, 4, 5, 6};
  write(path, std::string(reinterpret_cast<const char*>(values), sizeof values));
  CHECK(bench::read_matrix(path, 3, 2, 3) == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(bench::read_matrix(path, 3, 2, 2) == std::vector<float>{1, 2, 3, 4});
  CHECK_THROWS_AS(bench::read_matrix(path, 2, 2, 2), bench::Error);
  CHECK_THROWS_AS(bench::read_matrix(path, 4, 2, 2), bench::Error);
  CHECK_THROWS_AS(bench::read_matrix(folder.file("missing"), 3, 2, 3), bench::Error);
}
