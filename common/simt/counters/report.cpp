// Reports as JSON and CSV, under Nsight Compute's names where it has one.
#include <cstdio>
#include <functional>

#include "counters.h"

namespace simt::counters {

namespace {

struct Metric {
  std::string name;
  std::function<uint64_t(const Counts&)> value;
};

// In the order of the columns. Reductions count as atomics: op_atom stands for op_atom and op_red together.
const std::vector<Metric>& metrics() {
  static const std::vector<Metric> all = [] {
    std::vector<Metric> list;
    const char* const ops[] = {"ld", "st", "atom"};
    for (int op = 0; op < access_ops; op++) {
      const std::string suffix = std::string("_op_") + ops[op] + ".sum";
      list.push_back(
          {"l1tex__t_requests_pipe_lsu_mem_global" + suffix, [op](const Counts& c) { return c.global[op].requests; }});
      list.push_back(
          {"l1tex__t_sectors_pipe_lsu_mem_global" + suffix, [op](const Counts& c) { return c.global[op].sectors; }});
      list.push_back({std::string("global_bytes_op_") + ops[op], [op](const Counts& c) { return c.global[op].bytes; }});
    }
    for (int op = 0; op < access_ops; op++) {
      const std::string suffix = std::string("_op_") + ops[op] + ".sum";
      list.push_back(
          {std::string("shared_requests_op_") + ops[op], [op](const Counts& c) { return c.shared[op].requests; }});
      list.push_back({"l1tex__data_pipe_lsu_wavefronts_mem_shared" + suffix,
                      [op](const Counts& c) { return c.shared[op].wavefronts; }});
      list.push_back({"l1tex__data_bank_conflicts_pipe_lsu_mem_shared" + suffix,
                      [op](const Counts& c) { return c.shared[op].conflicts; }});
      list.push_back({std::string("shared_bytes_op_") + ops[op], [op](const Counts& c) { return c.shared[op].bytes; }});
    }
    list.push_back({"barriers", [](const Counts& c) { return c.barriers; }});
    list.push_back({"warp_operations", [](const Counts& c) { return c.warp_operations; }});
    list.push_back({"shared_bytes_handed_over", [](const Counts& c) { return c.handed_over; }});
    list.push_back({"shared_bytes_between_warps", [](const Counts& c) { return c.between_warps; }});
    return list;
  }();
  return all;
}

std::string quote_json(const std::string& text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", c);
      quoted += escaped;
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string quote_csv(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string json_object(const Counts& counts) {
  std::string text = "{";
  for (const Metric& metric : metrics()) {
    if (text.size() > 1) text += ", ";
    text += quote_json(metric.name) + ": " + std::to_string(metric.value(counts));
  }
  return text + "}";
}

std::string extent(dim3 e) {
  return "[" + std::to_string(e.x) + ", " + std::to_string(e.y) + ", " + std::to_string(e.z) + "]";
}

}  // namespace

void Counts::add(const Counts& other) {
  for (int op = 0; op < access_ops; op++) {
    global[op].requests += other.global[op].requests;
    global[op].sectors += other.global[op].sectors;
    global[op].bytes += other.global[op].bytes;
    shared[op].requests += other.shared[op].requests;
    shared[op].wavefronts += other.shared[op].wavefronts;
    shared[op].conflicts += other.shared[op].conflicts;
    shared[op].bytes += other.shared[op].bytes;
  }
  barriers += other.barriers;
  warp_operations += other.warp_operations;
  handed_over += other.handed_over;
  between_warps += other.between_warps;
}

bool Counts::operator==(const Counts& other) const {
  for (const Metric& metric : metrics()) {
    if (metric.value(*this) != metric.value(other)) return false;
  }
  return true;
}

std::string json_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string json_prediction(const timing::Prediction& p) {
  std::string text = "{\"gpu\": " + quote_json(p.gpu);
  if (!p.known)
    return text + ", \"seconds\": null, \"why\": " + quote_json(p.why) +
           (p.at_least > 0 ? ", \"at_least\": " + json_number(p.at_least) : "") +
           (p.rest > 0 ? ", \"rest\": " + json_number(p.rest) : "") + "}";
  const auto number = [&](const char* name, double value) {
    text += std::string(", \"") + name + "\": " + json_number(value);
  };
  number("seconds", p.seconds);
  number("low", p.low);
  number("high", p.high);
  text += ", \"limit\": " + quote_json(p.limit) + ", \"words\": " + quote_json(p.words);
  if (p.times > 1) number("times", p.times);
  number("resident_blocks", p.resident);
  number("given_blocks", static_cast<double>(p.given));
  text += ", \"bound_by\": " + quote_json(p.bound_by);
  number("registers", p.registers);
  number("bytes_in_flight", p.bytes_in_flight);
  number("bytes_needed", p.bytes_needed);
  number("dram", p.dram);
  number("l2", p.l2);
  number("lsu", p.lsu);
  number("issue", p.issue);
  number("mufu", p.mufu);
  text += ", \"segments\": [";
  for (size_t s = 0; s < p.segments.size(); s++) {
    text += s ? ", {" : "{";
    bool first = true;
    for (size_t c = 0; c < timing::cause_count; c++) {
      if (p.segments[s].cycles[c] <= 0) continue;
      text += (first ? "\"" : ", \"") + std::string(timing::cause_names[c]) +
              "\": " + json_number(p.segments[s].cycles[c] * p.segment_scale);
      first = false;
    }
    text += "}";
  }
  return text + "]}";
}

std::string to_json(const Report& report) {
  std::string text = "{\"launches\": [";
  for (size_t i = 0; i < report.launches.size(); i++) {
    const Launch& launch = report.launches[i];
    text += i ? ",\n" : "\n";
    text += "  {\"kernel\": " + quote_json(launch.kernel) + ", \"grid\": " + extent(launch.grid) +
            ", \"block\": " + extent(launch.block) +
            ", \"dynamic_shared_bytes\": " + std::to_string(launch.dynamic_shared_bytes) +
            ",\n   \"footprint\": {\"sectors_read\": " + std::to_string(launch.sectors_read) +
            ", \"sectors_written\": " + std::to_string(launch.sectors_written) +
            "},\n   \"longest_thread\": {\"accesses\": " + std::to_string(launch.longest_thread_accesses) +
            ", \"block_accesses\": " + std::to_string(launch.its_block_accesses) +
            "}, \"received\": {\"bytes\": " + std::to_string(launch.received.bytes) +
            ", \"share\": " + std::to_string(launch.received.share) +
            "}, \"busiest_warp\": {\"bytes\": " + std::to_string(launch.busiest_warp.bytes) +
            ", \"block_bytes\": " + std::to_string(launch.busiest_warp.block_bytes) +
            ", \"warps\": " + std::to_string(launch.busiest_warp.warps) +
            "}, \"one_by_one\": {\"chain\": " + std::to_string(launch.one_by_one.chain) +
            ", \"instructions\": " + std::to_string(launch.one_by_one.instructions) +
            ", \"warps\": " + std::to_string(launch.one_by_one.warps) +
            "}, \"exchanged_bytes\": " + std::to_string(launch.exchanged) +
            ", \"blocks\": {\"working\": " + std::to_string(launch.working_blocks) +
            ", \"barriers\": " + std::to_string(launch.working_barriers) +
            ", \"accesses\": " + std::to_string(launch.working_accesses) +
            (report.watching ? "}, \"watched_bytes_read\": " + std::to_string(launch.watched_bytes_read) : "}") +
            (launch.symbol.empty() ? "" : ",\n   \"symbol\": " + quote_json(launch.symbol)) +
            (launch.predicted.gpu.empty() ? "" : ",\n   \"predicted\": " + json_prediction(launch.predicted)) +
            ",\n   \"total\": " + json_object(launch.total) + ",\n   \"lines\": [";
    for (size_t l = 0; l < launch.lines.size(); l++) {
      const Line& line = launch.lines[l];
      text += l ? ",\n" : "\n";
      text += "     {\"file\": " + quote_json(line.file) + ", \"line\": " + std::to_string(line.line) +
              ", \"counts\": " + json_object(line.counts) + "}";
    }
    text += "]}";
  }
  text += "\n]";
  // Only where there are any: most programs copy nothing within the device, and call no library.
  if (const Copies& copies = report.copies; copies.calls)
    text += ", \"copies\": {\"calls\": " + std::to_string(copies.calls) +
            ", \"bytes_read\": " + std::to_string(copies.bytes_read) +
            ", \"bytes_written\": " + std::to_string(copies.bytes_written) +
            ", \"watched_bytes_read\": " + std::to_string(copies.watched_bytes_read) + "}";
  for (size_t i = 0; i < report.library_calls.size(); i++) {
    const LibraryCall& call = report.library_calls[i];
    text += (i ? ",\n" : ", \"library_calls\": [\n") + std::string("  {\"call\": ") + quote_json(call.name) +
            (call.counted ? "" : ", \"counted\": false") + ", \"bytes_read\": " + std::to_string(call.bytes_read) +
            ", \"bytes_written\": " + std::to_string(call.bytes_written) +
            ", \"watched_bytes_read\": " + std::to_string(call.watched_bytes_read) + "}";
  }
  return text + (report.library_calls.empty() ? "}\n" : "\n]}\n");
}

std::string to_csv(const Report& report) {
  std::string text = "launch,kernel,file,line";
  for (const Metric& metric : metrics()) text += "," + metric.name;
  text += ",footprint_sectors_read,footprint_sectors_written,longest_thread_accesses,longest_thread_block_accesses\n";
  for (size_t i = 0; i < report.launches.size(); i++) {
    const Launch& launch = report.launches[i];
    const std::string head = std::to_string(i) + "," + quote_csv(launch.kernel) + ",";
    const auto numbers = [](const Counts& counts) {
      std::string row;
      for (const Metric& metric : metrics()) row += "," + std::to_string(metric.value(counts));
      return row;
    };
    text += head + ",0" + numbers(launch.total) + "," + std::to_string(launch.sectors_read) + "," +
            std::to_string(launch.sectors_written) + "," + std::to_string(launch.longest_thread_accesses) + "," +
            std::to_string(launch.its_block_accesses) + "\n";
    for (const Line& line : launch.lines) {
      text += head + quote_csv(line.file) + "," + std::to_string(line.line) + numbers(line.counts) + ",,,,\n";
    }
  }
  return text;
}

}  // namespace simt::counters
