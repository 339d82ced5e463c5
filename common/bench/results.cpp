#include "results.h"

#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "error.h"
#include "json_file.h"
#include "machine.h"

namespace bench {

namespace {

namespace fs = std::filesystem;

constexpr const char* key_fields[] = {"source", "lab", "variant", "dtype", "input", "rows", "cols", "k"};
constexpr const char* roof_fields[] = {"copy_gbs", "read_gbs", "fma_gflops", "exp_gops"};

// Four digits are more than a clock can vouch for, and keep the file readable.
double four_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return std::strtod(text, nullptr);
}

bool same_key(const Json& a, const Json& b) {
  for (const char* field : key_fields) {
    if (a.at(field) != b.at(field)) return false;
  }
  return true;
}

void require_text(const Json& file, const char* field, const std::string& expected, const std::string& path) {
  const auto found = file.find(field);
  if (found == file.end() || !found->is_string()) {
    throw Error(path + ": not a results file: it has no \"" + field + "\"; repair or delete it");
  }
  if (*found != expected) {
    throw Error(path + ": holds results of " + field + " \"" + found->get<std::string>() + "\", this is \"" + expected +
                "\"; write to another file with --results");
  }
}

void check_points(const Json& file, const std::string& path) {
  const auto points = file.find("points");
  if (points == file.end() || !points->is_array()) {
    throw Error(path + ": not a results file: it has no list \"points\"; repair or delete it");
  }
  for (size_t i = 0; i < points->size(); i++) {
    for (const char* field : key_fields) {
      if ((*points)[i].contains(field)) continue;
      throw Error(path + ": point " + std::to_string(i + 1) + " has no \"" + field + "\"; repair or delete the file");
    }
  }
}

Json to_json(const Point& point) {
  const testing_::Operator& problem = testing_::operator_of(point.op);
  const rung::Sizes sizes = problem.arguments().sizes_of(point.rows, point.cols, point.k);
  Json json = {
      {"source", point.source},
      {"lab", point.lab},
      {"variant", point.variant},
      {"op", rung::name_of(point.op)},
      {"dtype", rung::name_of(point.dtype)},
      {"input", point.input},
      {"rows", point.rows},
      {"cols", point.cols},
      {"k", point.k},
      {"seconds", four_digits(point.timing.median)},
      {"seconds_min", four_digits(point.timing.min)},
      {"seconds_max", four_digits(point.timing.max)},
      {"launches", point.timing.launches},
      {"nominal_bytes", std::llround(problem.bytes(sizes, point.dtype))},
      {"nominal_flops", std::llround(problem.flops(sizes))},
      {"note", point.note},
  };
  const Timing& timing = point.timing;
  if (timing.max_mhz) json["sm_clock_mhz"] = {timing.min_mhz, timing.max_mhz};
  if (timing.thrown_away) json["throttled_runs_thrown_away"] = timing.thrown_away;
  if (!timing.throttled.empty()) json["throttled"] = timing.throttled;
  if (const Traffic& traffic = point.traffic; traffic.counted_rows) {  // only where they were counted
    json["l1_bytes"] = traffic.l1_bytes;
    json["footprint_bytes"] = traffic.footprint_bytes;
    json["counted_rows"] = traffic.counted_rows;
  }
  return json;
}

}  // namespace

Json read_roofs(const std::string& path, const std::string& machine) {
  Json roofs = read_object<Json>(path);
  for (const char* field : roof_fields) {
    const auto roof = roofs.find(field);
    if (roof == roofs.end() || !roof->is_number() || !(roof->get<double>() > 0)) {
      throw Error(path + ": \"" + field + "\" is missing or not a positive number; measure the roofs again");
    }
  }
  if (roofs.value("machine", "") != machine) {
    throw Error(path + ": its roofs are not those of this machine (" + machine + "); measure them again");
  }
  for (const char* field : {"machine", "cores", "date"}) roofs.erase(field);  // the results file says these itself
  return roofs;
}

Results::Results(std::string path, const std::string& machine, const std::string& backend) : path_(std::move(path)) {
  std::error_code ignored;
  const fs::path parent = fs::path(path_).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  fs::create_directories(folder, ignored);
  if (!fs::is_directory(folder, ignored)) throw Error(folder + ": no such folder, and it cannot be created");
  if (fs::is_directory(path_, ignored)) throw Error(path_ + ": is a folder; --results wants a file");
  if (access(folder.c_str(), W_OK) != 0) throw Error(folder + ": cannot be written: " + std::strerror(errno));

  if (fs::exists(path_, ignored)) {
    file_ = read_object<Json>(path_);
    require_text(file_, "machine", machine, path_);
    require_text(file_, "backend", backend, path_);
    check_points(file_, path_);
  } else {
    file_ = {{"machine", machine}, {"backend", backend},      {"date", today()},
             {"command", ""},      {"roofs", Json::object()}, {"points", Json::array()}};
  }
}

void Results::set_command(const std::string& command) { file_["command"] = command; }

void Results::set_roofs(const Json& roofs) { file_["roofs"] = roofs; }

std::string Results::contradiction(const Traffic& traffic, double seconds) const {
  if (file_["backend"] != "cuda") return "";
  const double needed = static_cast<double>(traffic.footprint_bytes) / seconds / 1e9;
  const auto roofs = file_.find("roofs");
  const double roof = roofs == file_.end() ? 0.0 : roofs->value("read_gbs", 0.0);
  if (!roof || needed <= roof * 1.05) return "";
  char text[160];
  std::snprintf(
      text, sizeof text,
      "the executor takes another path here than this GPU: its footprint would need %.0f GB/s of a memory that "
      "delivers %.0f",
      needed, roof);
  return text;
}

void Results::put(const Point& point) {
  file_["date"] = today();
  const Json json = to_json(point);
  for (Json& other : file_["points"]) {
    if (same_key(other, json)) {
      other = json;
      return;
    }
  }
  file_["points"].push_back(json);
}

void Results::save() { write_object(path_, file_); }

}  // namespace bench
