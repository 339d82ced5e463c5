#include "assembly.h"

#include <cstdlib>
#include <cstring>
#include <unordered_map>

namespace announce {

namespace {

struct Name {
  Register number;
  int bytes;
};

const std::unordered_map<std::string, Name>& register_names() {
  static const auto* const names = [] {
    auto* const map = new std::unordered_map<std::string, Name>;
    const char* const old[8] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};
    for (int i = 0; i < 8; i++) {
      const std::string name = old[i];
      const auto number = static_cast<Register>(i);
      (*map)["%r" + name] = {number, 8};
      (*map)["%e" + name] = {number, 4};
      (*map)["%" + name] = {number, 2};
      if (i < 4) {
        (*map)[std::string("%") + name[0] + 'l'] = {number, 1};
        (*map)[std::string("%") + name[0] + 'h'] = {number, 1};
      } else {
        (*map)["%" + name + "l"] = {number, 1};
      }
    }
    for (int i = 8; i < register_count; i++) {
      const std::string name = "%r" + std::to_string(i);
      const auto number = static_cast<Register>(i);
      (*map)[name] = {number, 8};
      (*map)[name + "d"] = {number, 4};
      (*map)[name + "w"] = {number, 2};
      (*map)[name + "b"] = {number, 1};
    }
    (*map)["%rip"] = {rip, 8};
    return map;
  }();
  return *names;
}

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

bool is_number(const std::string& text) {
  char* end = nullptr;
  std::strtoll(text.c_str(), &end, 0);
  return !text.empty() && !*end;
}

Operand parse_operand(std::string text) {
  Operand operand;
  operand.text = text;
  if (!text.empty() && text[0] == '*') {
    operand.indirect = true;
    text.erase(0, 1);
  }
  if (text.empty() || text[0] == '$' || (text[0] == '%' && text.find(':') == std::string::npos)) return operand;
  if (text[0] == '%') {
    const size_t colon = text.find(':');
    operand.segment = text.substr(0, colon);
    text.erase(0, colon + 1);
    operand.is_memory = true;
  }
  const size_t open = text.rfind('(');
  const std::string before = text.substr(0, open);
  if (open != std::string::npos) {
    operand.is_memory = true;
    std::string inside = text.substr(open + 1, text.find(')', open) - open - 1);
    const size_t comma = inside.find(',');
    operand.base = register_of(trimmed(inside.substr(0, comma)));
    if (comma != std::string::npos) {
      inside.erase(0, comma + 1);
      const size_t second = inside.find(',');
      operand.index = register_of(trimmed(inside.substr(0, second)));
      if (second != std::string::npos) operand.scale = std::atoi(inside.c_str() + second + 1);
    }
  }
  if (is_number(before))
    operand.displacement = std::strtoll(before.c_str(), nullptr, 0);
  else
    operand.symbol = before;
  return operand;
}

}  // namespace

Register register_of(const std::string& text) {
  const auto found = register_names().find(text);
  return found == register_names().end() ? none : found->second.number;
}
int bytes_of_register(const std::string& text) {
  const auto found = register_names().find(text);
  return found == register_names().end() ? 0 : found->second.bytes;
}

const Operand* Instruction::memory() const {
  for (const Operand& operand : operands) {
    if (operand.is_memory) return &operand;
  }
  return nullptr;
}

Instruction parse_instruction(const std::string& text) {
  Instruction instruction;
  size_t at = 0;
  const auto word = [&] {
    at = text.find_first_not_of(" \t", at);
    if (at == std::string::npos) return std::string();
    const size_t end = std::min(text.find_first_of(" \t", at), text.size());
    const std::string found = text.substr(at, end - at);
    at = end;
    return found;
  };
  instruction.mnemonic = word();
  for (const char* const prefix : {"rep", "repz", "repe", "repnz", "repne", "lock", "data16", "rex64", "notrack"}) {
    if (instruction.mnemonic != prefix) continue;
    instruction.prefix = instruction.mnemonic;
    instruction.mnemonic = word();
    if (!instruction.mnemonic.empty() && instruction.mnemonic.back() == ';') instruction.mnemonic.pop_back();
    break;
  }
  std::string operand;
  int depth = 0;
  for (; at < text.size(); at++) {
    const char c = text[at];
    depth += (c == '(') - (c == ')');
    if (c != ',' || depth) {
      operand += c;
      continue;
    }
    instruction.operands.push_back(parse_operand(trimmed(operand)));
    operand.clear();
  }
  if (!trimmed(operand).empty()) instruction.operands.push_back(parse_operand(trimmed(operand)));
  return instruction;
}

std::string operand_text(const Operand& memory, int64_t more) {
  std::string text = memory.symbol;
  if (memory.symbol.empty()) text = std::to_string(memory.displacement + more);
  return text + memory.text.substr(memory.text.rfind('('));
}

}  // namespace announce
