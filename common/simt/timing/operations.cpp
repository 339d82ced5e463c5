#include "operations.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>

#include "../module_symbols.h"

namespace simt::timing {

namespace {

std::vector<int> numbers(const std::string& text) {
  std::vector<int> found;
  if (text == "-") return found;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');) found.push_back(std::stoi(word));
  return found;
}

void read_line(const std::string& line, std::vector<TableFunction>* functions) {
  std::istringstream in(line);
  std::string what;
  in >> what;
  if (what.empty()) return;
  if (what == "f") {
    functions->push_back({});
    TableFunction& function = functions->back();
    in >> function.symbol >> function.kernel >> function.ordered >> function.matched;
    return;
  }
  if (what == "simt_operations") return;
  TableFunction& function = functions->at(functions->size() - 1);
  if (what == "u") {
    std::string why;
    std::getline(in >> std::ws, why);
    function.unknown.push_back(why);
  } else if (what == "l") {
    Loop loop;
    std::string blocks;
    in >> loop.header >> loop.unroll >> loop.entry >> blocks;
    for (const int block : numbers(blocks)) {
      loop.blocks.resize(std::max(loop.blocks.size(), static_cast<size_t>(block) + 1));
      loop.blocks[static_cast<size_t>(block)] = true;
    }
    function.loops.push_back(loop);
  } else if (what == "b") {
    TableBlock block = {};
    std::string flags, next;
    in >> block.number >> block.offset >> block.branch >> flags >> next;
    block.predicated = flags.find('p') != std::string::npos;
    block.transparent = flags.find('t') != std::string::npos;
    block.next = numbers(next);
    function.blocks.push_back(block);
  } else if (what == "k") {
    int64_t offset;
    in >> offset;
    function.blocks.at(function.blocks.size() - 1).inner.push_back(offset);
  } else if (what == "h") {
    Phi phi;
    in >> phi.value;
    for (std::string source; in >> source;) {
      const size_t colon = source.find(':');
      phi.sources.push_back({std::stoi(source), std::stoi(source.substr(colon + 1))});
      function.values = std::max(function.values, phi.sources.back().second + 1);
    }
    function.values = std::max(function.values, phi.value + 1);
    function.blocks.at(function.blocks.size() - 1).phis.push_back(phi);
  } else if (what == "o") {
    Operation operation = {};
    char kind;
    float quarters;
    std::string flags, writes, reads;
    in >> kind >> quarters >> operation.mufu >> flags >> operation.offset >> writes >> reads;
    operation.kind = static_cast<Kind>(kind);
    operation.instructions = quarters / 4;
    operation.fence = flags.find('f') != std::string::npos;
    operation.once = flags.find('g') != std::string::npos;
    operation.floats = flags.find('F') != std::string::npos;
    operation.of_all = flags.find('u') != std::string::npos;
    operation.by_one = flags.find('i') != std::string::npos;
    operation.counted = flags.find('k') != std::string::npos;
    operation.writes = numbers(writes);
    operation.reads = numbers(reads);
    for (const auto* list : {&operation.writes, &operation.reads})
      for (const int value : *list) function.values = std::max(function.values, value + 1);
    function.blocks.at(function.blocks.size() - 1).operations.push_back(operation);
  } else if (what == "n") {
    std::string headers;
    in >> headers;
    for (const int header : numbers(headers)) {
      for (size_t l = 0; l < std::min<size_t>(function.loops.size(), 64); l++) {
        if (function.loops[l].header != header) continue;
        function.blocks.back().operations.back().unchanged_in |= uint64_t{1} << l;
        function.repeats |= uint64_t{1} << l;
      }
    }
  } else if (what == "j") {
    JoinableLoad load;
    in >> load.offset >> load.multiple >> load.kind >> load.number >> load.rounds;
    function.joinable.push_back(load);
  } else if (what == "q") {
    int header, number;
    in >> header >> number;
    function.regions[header] = number;
  } else {
    throw std::runtime_error("not a table of operations: '" + line + "'");
  }
  if (in.bad()) throw std::runtime_error("not a table of operations: '" + line + "'");
}

}  // namespace

const Loop* TableFunction::loop_of(int block) const {
  for (const Loop& loop : loops) {
    if (loop.unroll != 0 && loop.contains(block)) return &loop;
  }
  return nullptr;
}

bool TableFunction::is_unrolled(int block) const {
  for (const Loop& loop : loops) {
    if (loop.unroll != 1 && loop.contains(block)) return loop.unroll == 0;
  }
  return false;
}

Operations::Operations(const std::string& text, const FunctionOffsets& places) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) read_line(line, &functions_);
  std::unordered_map<std::string, size_t> of_name, seen;
  for (const TableFunction& function : functions_) of_name[function.symbol]++;
  for (size_t f = 0; f < functions_.size(); f++) {
    const std::string& symbol = functions_[f].symbol;
    const size_t turn = seen[symbol]++;
    const auto found = places.find(symbol);
    if (found == places.end()) continue;
    // Each file may have a static function of this name; of an inline one the linker keeps the first file's.
    const bool of_each_file = found->second.size() == of_name[symbol];
    if (!of_each_file && (turn > 0 || found->second.size() > 1)) continue;
    const uintptr_t address = found->second[turn];
    for (const JoinableLoad& load : functions_[f].joinable)
      joinable_[address + static_cast<uintptr_t>(load.offset)] = {&load, static_cast<int>(f)};
    for (size_t b = 0; b < functions_[f].blocks.size(); b++) {
      const TableBlock& block = functions_[f].blocks[b];
      Position position = {static_cast<int>(f), static_cast<int>(b), -1};
      if (block.offset >= 0) positions_[address + static_cast<uintptr_t>(block.offset)] = position;
      for (const int64_t inner : block.inner)
        positions_[address + static_cast<uintptr_t>(inner)] = {position.function, position.block, -2};
      for (size_t o = 0; o < block.operations.size(); o++) {
        if (block.operations[o].offset < 0) continue;
        position.operation = static_cast<int>(o);
        positions_[address + static_cast<uintptr_t>(block.operations[o].offset)] = position;
      }
    }
  }
}

Position Operations::find(uintptr_t offset) const {
  const auto found = positions_.find(offset);
  return found == positions_.end() ? Position{} : found->second;
}

FoundLoad Operations::joinable(uintptr_t offset) const {
  const auto found = joinable_.find(offset);
  return found == joinable_.end() ? FoundLoad{} : found->second;
}

const Operations* operations_of(const std::string& path) {
  static std::mutex mutex;
  static auto* const tables = new std::map<std::string, std::unique_ptr<Operations>>;
  std::lock_guard<std::mutex> lock(mutex);
  const auto [entry, is_new] = tables->try_emplace(path);
  if (is_new) {
    const std::string text = section_of(path, ".simt_operations");
    if (!text.empty()) entry->second = std::make_unique<Operations>(text, function_offsets(path));
  }
  return entry->second.get();
}

}  // namespace simt::timing
