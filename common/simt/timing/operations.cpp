#include "operations.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string_view>

#include "../module_symbols.h"

namespace simt::timing {

namespace {

// The words of a line, one after another.
class Words {
 public:
  explicit Words(std::string_view line) : line_(line), rest_(line) {}

  std::string_view rest() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size()));
    return rest_;
  }
  std::string_view word() {
    const std::string_view found = rest().substr(0, rest_.find(' '));
    rest_.remove_prefix(found.size());
    return found;
  }
  template <class T>
  T number() {
    return number_of<T>(word());
  }
  std::vector<int> numbers() {
    std::vector<int> found;
    std::string_view list = word();
    while (list != "-" && !list.empty()) {
      const size_t comma = std::min(list.find(','), list.size());
      const bool is_element = list.front() == 'e';
      const int number = number_of<int>(list.substr(is_element, comma - is_element));
      found.push_back(is_element ? first_element - number : number);
      list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return found;
  }
  // "8:32 7:-1", to the line's end.
  std::vector<std::pair<int, int>> pairs() {
    std::vector<std::pair<int, int>> found;
    for (std::string_view pair = word(); !pair.empty(); pair = word()) {
      const size_t colon = pair.find(':');
      if (colon == std::string_view::npos) fail();
      found.push_back({number_of<int>(pair.substr(0, colon)), number_of<int>(pair.substr(colon + 1))});
    }
    return found;
  }
  template <class T>
  T number_of(std::string_view text) const {
    T value = {};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) fail();
    return value;
  }
  [[noreturn]] void fail() const {
    throw std::runtime_error("not a table of operations: '" + std::string(line_) + "'");
  }

 private:
  std::string_view line_, rest_;
};

bool has(std::string_view flags, char one) { return flags.find(one) != std::string_view::npos; }

Operation operation_of(Words* in) {
  Operation operation = {};
  operation.kind = static_cast<Kind>(in->word().at(0));
  operation.instructions = in->number<float>() / 4;
  operation.mufu = in->number<int>();
  const std::string_view flags = in->word();
  operation.fence = has(flags, 'f');
  operation.once = has(flags, 'g');
  operation.floats = has(flags, 'F');
  operation.of_all = has(flags, 'u');
  operation.by_one = has(flags, 'i');
  operation.counted = has(flags, 'k');
  operation.offset = in->number<int64_t>();
  operation.writes = in->numbers();
  operation.reads = in->numbers();
  for (const auto* list : {&operation.writes, &operation.reads})
    for (const int value : *list) operation.of_elements |= value <= first_element;
  return operation;
}

void read_line(std::string_view line, std::vector<TableFunction>* functions) {
  Words in(line);
  const std::string_view what = in.word();
  if (what.empty() || what == "simt_operations") return;
  if (what == "f") {
    functions->push_back({});
    TableFunction& function = functions->back();
    function.symbol = in.word();
    for (bool* const one : {&function.kernel, &function.ordered, &function.matched}) *one = in.number<int>() != 0;
    return;
  }
  if (functions->empty()) in.fail();
  TableFunction& function = functions->back();
  if ((what == "k" || what == "h" || what == "o" || what == "n" || what == "v") && function.blocks.empty()) in.fail();
  if (what == "u") {
    function.unknown.emplace_back(in.rest());
  } else if (what == "l") {
    Loop loop;
    loop.header = in.number<int>();
    loop.unroll = in.number<unsigned>();
    loop.entry = in.number<float>();
    for (const int block : in.numbers()) {
      loop.blocks.resize(std::max(loop.blocks.size(), static_cast<size_t>(block) + 1));
      loop.blocks[static_cast<size_t>(block)] = true;
    }
    function.loops.push_back(loop);
  } else if (what == "b") {
    TableBlock block = {};
    block.number = in.number<int>();
    block.offset = in.number<int64_t>();
    block.branch = in.number<float>();
    const std::string_view flags = in.word();
    block.predicated = has(flags, 'p');
    block.decided = has(flags, 'd');
    block.transparent = has(flags, 't');
    block.next = in.numbers();
    function.blocks.push_back(block);
  } else if (what == "k") {
    function.blocks.back().inner.push_back(in.number<int64_t>());
  } else if (what == "h") {
    Phi phi;
    phi.value = in.number<int>();
    phi.sources = in.pairs();
    for (const auto& [block, value] : phi.sources) function.values = std::max(function.values, value + 1);
    function.values = std::max(function.values, phi.value + 1);
    function.blocks.back().phis.push_back(phi);
  } else if (what == "o") {
    const Operation operation = operation_of(&in);
    for (const auto* list : {&operation.writes, &operation.reads})
      for (const int value : *list) function.values = std::max(function.values, value + 1);
    function.blocks.back().operations.push_back(operation);
  } else if (what == "n") {
    if (function.blocks.back().operations.empty()) in.fail();
    for (const int header : in.numbers()) {
      for (size_t l = 0; l < std::min<size_t>(function.loops.size(), 64); l++) {
        if (function.loops[l].header != header) continue;
        function.blocks.back().operations.back().unchanged_in |= uint64_t{1} << l;
        function.repeats |= uint64_t{1} << l;
      }
    }
  } else if (what == "v") {
    if (function.blocks.back().operations.empty()) in.fail();
    function.blocks.back().operations.back().stored_before = in.numbers();
  } else if (what == "j") {
    JoinableLoad load;
    load.offset = in.number<int64_t>();
    load.multiple = in.number<unsigned>();
    load.kind = in.word().at(0);
    load.number = in.number<int>();
    load.rounds = in.number<unsigned>();
    function.joinable.push_back(load);
  } else if (what == "m") {
    const auto number = in.number<size_t>();
    function.elements.resize(std::max(function.elements.size(), number + 1));
    Element& element = function.elements[number];
    for (int* const one : {&element.begin, &element.words, &element.offset, &element.bytes}) *one = in.number<int>();
    element.steps = in.pairs();
    function.values = std::max(function.values, element.begin + element.words);
  } else if (what == "q") {
    const int header = in.number<int>();
    function.regions[header] = in.number<int>();
  } else {
    in.fail();
  }
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
  for (size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    read_line(std::string_view(text).substr(begin, end - begin), &functions_);
  }
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
