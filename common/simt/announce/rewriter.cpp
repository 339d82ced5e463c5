#include "rewriter.h"

#include <cstdlib>
#include <cstring>
#include <random>
#include <regex>
#include <sstream>

#include "directives.h"
#include "stack_pointer.h"

namespace announce {

namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

constexpr int64_t return_address = 8;

// "simt_seen_load4" of "*simt_seen_load4@GOTPCREL(%rip)"; "" if it is a pointer, in a register or in a variable.
std::string called(const Operand& target) {
  if (target.is_memory && target.base == rip && target.symbol.find("@GOTPCREL") != std::string::npos)
    return target.symbol.substr(0, target.symbol.find('@'));
  if (!target.indirect && !target.symbol.empty()) return target.symbol.substr(0, target.symbol.find('@'));
  return "";
}

// Calls of the compiler's and the executor's that leave the frame and what was announced as they are.
bool is_hook(const std::string& name) {
  return begins(name, "__tsan_") || name == "__sanitizer_cov_trace_pc" || name == "__tls_get_addr";
}

bool is_of_hooks(const std::string& symbol) {
  return begins(symbol, "__tsan_") || begins(symbol, "simt_seen") || begins(symbol, "__sanitizer_cov");
}

constexpr const char* mark_label = ".Lsimt_mark";

uint64_t drawn_mark() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

}  // namespace

// In the block that ends, what was announced and did not happen.
void Rewriter::end_block() {
  join_pieces();
  entered_ = false;
  for (const Announced& hook : announced_) {
    if (!hook.used) output_[hook.output_line] = "";
  }
  announced_.clear();
  passed_.clear();
}

void Rewriter::find_frames(const std::vector<std::string_view>& lines) {
  std::string name;
  for (const std::string_view text : lines) {
    if (text.empty() || text[0] == '.') continue;
    if (text[0] != '\t') {
      if (text.back() == ':') labels_.insert(name = std::string(text.substr(0, text.size() - 1)));
      continue;
    }
    if (text.size() > 1 && text[1] == '.') continue;
    if (text.find("push") == std::string_view::npos && text.find("%rsp") == std::string_view::npos) continue;
    const Instruction instruction = parse_instruction(std::string(text.substr(1)));
    int64_t& bytes = frames_[name];
    if (bytes < 0 || instruction.operands.empty()) continue;
    int64_t moved = 0;
    switch (how_stack_moves(instruction, &moved)) {
      case Stack::stays: break;
      case Stack::moves: bytes += std::max<int64_t>(moved, 0); break;
      case Stack::is_restored: break;
      case Stack::is_computed: bytes = -1; break;
    }
  }
}

int64_t Rewriter::frame_bytes() const {
  const auto found = frames_.find(function_);
  const int64_t pushed = found == frames_.end() ? 0 : found->second;
  return pushed < 0 ? pushed : pushed + return_address;
}

// The pointer is read once: nobody can change it after it was looked at.
void Rewriter::call_by_pointer(const Operand& target) {
  make("\tmovq\t" + target.text.substr(1) + ", %r11");
  make("\tmovq\t" + std::string(mark_label) + "(%rip), %r10");
  make("\tcall\t*simt_seen_target@GOTPCREL(%rip)");
  make("\tcall\t*%r11");
}

std::string Rewriter::rewrite(const std::string& assembly) {
  const std::vector<std::string_view> lines = lines_of(assembly);
  find_frames(lines);
  mark_ = std::to_string(drawn_mark());
  values_.forget(-1);
  for (const std::string_view text : lines) line(text);
  end_block();
  make(std::string("\t.section\t.rodata.simt_mark,\"a\",@progbits\n\t.align 8\n") + mark_label + ":\n\t.quad\t" +
       mark_);
  for (const std::string& name : defined_) report_.needs.erase(name);
  report_.defines = defined_;
  std::string all;
  all.reserve(2 * assembly.size());
  for (const std::string_view text : output_) {
    if (text.empty()) continue;
    all += text;
    all += '\n';
  }
  return all;
}

void Rewriter::line(std::string_view text) {
  if (begins(text, "#APP")) {
    in_assembly_ = true;
    end_block();
    values_.forget(frame_bytes());
    return emit(text);
  }
  if (begins(text, "#NO_APP")) {
    in_assembly_ = false;
    return emit(text);
  }
  const size_t first = text.find_first_not_of(" \t");
  if (in_assembly_) {
    // An empty statement keeps a compiler from reordering, and does nothing. Between two the compiler names a line.
    // GCC's <iostream> names its initialisation from version 13 on.
    if (first != std::string_view::npos && text[first] != '#' && !begins(text.substr(first), ".loc ") &&
        text.substr(first) != ".globl _ZSt21ios_base_library_initv")
      find("inline assembly");
    return emit(text);
  }
  if (first == std::string_view::npos || text[first] == '#') return emit(text);
  const std::string_view body = text.substr(first);
  if (in_debug_ && !begins(body, ".section") && !begins(body, ".text") && body.find(':') == std::string_view::npos) {
    if (!begins(body, ".incbin") && !begins(body, ".include")) return emit(text);
  }
  if (text.back() == ':' || (first == 0 && body.find(':') != std::string_view::npos && body[0] != '.')) {
    const std::string name(text.substr(0, text.find(':')));
    label(name);
    // The part of a function that is hardly ever run is no function of its own.
    if (!functions_.count(name) || name.find(".cold") != std::string::npos) return emit(text);
    // Filled so that no-operations before it stay what the compiler wrote (launch_bounds.cpp counts them).
    make("\t.p2align\t3, 0xcc\n\t.quad\t" + mark_);
    emit(text);
    return make("\tcall\t*simt_seen_enter@GOTPCREL(%rip)");
  }
  if (body[0] == '.')
    directive(std::string(body));
  else
    return instruction(text);
  emit(text);
}

void Rewriter::label(const std::string& name) {
  // Those of the debugger's tables are no places to jump to: .LBB12, .LVL3.
  if (begins(name, ".L") && !(name.size() > 2 && std::isdigit(static_cast<unsigned char>(name[2])))) return;
  end_block();
  if (!begins(name, ".L")) defined_.insert(name);
  if (functions_.count(name)) {
    function_ = name;
    line_ = 0;
  }
  values_.forget(name == function_ ? return_address : frame_bytes());
}

void Rewriter::directive(const std::string& text) {
  std::istringstream words(text);
  std::string name, first;
  words >> name >> first;
  if (!first.empty() && first.back() == ',') first.pop_back();
  if (begins(name, ".cfi_")) return;
  if (!is_ordinary_directive(name)) return find("the directive " + name.substr(0, 40));
  // A quotation mark or a number sign where a name should be: more than the compiler's own text.
  static const std::regex odd_type(R"(^\.(globl|weak|hidden|local|type|size|set|weakref)\b.*["#;])");
  if (std::regex_search(text, odd_type)) return find("a name that is more than a name");
  if (name == ".file") {
    static const std::regex numbered(R"re(^\.file\s+(\d+)\s+"([^"]*)")re");
    if (std::smatch found; std::regex_search(text, found, numbered))
      files_[std::atoi(found[1].str().c_str())] = found[2];
  } else if (name == ".loc") {
    file_ = files_[std::atoi(first.c_str())];
    words >> line_;
  } else if (name == ".text") {
    in_code_ = true;
    in_debug_ = false;
  } else if (name == ".data" || name == ".bss") {
    in_code_ = in_debug_ = false;
  } else if (name == ".section") {
    static const std::regex parts(R"re(^\.section\s+([^,\s]+)(?:,"([a-zA-Z]*)")?(.*)$)re");
    std::smatch found;
    if (!std::regex_match(text, found, parts)) return find("a section that is more than a name");
    const std::string section = found[1], flags = found[2], rest = found[3];
    if (!is_ordinary_section(section, flags, rest)) find("the section " + section.substr(0, 40));
    in_debug_ = begins(section, ".debug_");
    in_code_ = flags.find('x') != std::string::npos || begins(section, ".text");
  } else if (name == ".type") {
    if (text.find("@gnu_indirect_function") != std::string::npos) find("a function that is chosen at load (ifunc)");
    if (text.find("@function") != std::string::npos) functions_.insert(first.substr(0, first.find(',')));
  } else if (name == ".comm" || name == ".set") {
    defined_.insert(first.substr(0, first.find(',')));
  } else if (is_data(name)) {
    // The compiler pads the calls by which it finds thread-local variables.
    const bool padding = text == ".byte\t0x66" || text == ".value\t0x6666";
    if (in_code_ && !padding) return find("bytes among the code");
    if (name == ".quad" || name == ".long") {
      static const std::regex symbol(R"([A-Za-z_.][\w.$]*)");
      for (std::sregex_iterator at(text.begin() + static_cast<long>(name.size()), text.end(), symbol), end; at != end;
           ++at) {
        refer(at->str());
        if (is_of_hooks(at->str())) find("the address of what announces accesses");
      }
    }
  }
}

void Rewriter::refer(const std::string& symbol) {
  const std::string name = symbol.substr(0, symbol.find_first_of("@+-"));
  if (!name.empty() && !begins(name, ".L") && !std::isdigit(static_cast<unsigned char>(name[0])))
    report_.needs.try_emplace(name, line_);
}

void Rewriter::instruction(std::string_view text) {
  const Instruction parsed = parse_instruction(std::string(text));
  if (!is_known(parsed)) find("the instruction " + parsed.mnemonic.substr(0, 40));
  for (const Operand& operand : parsed.operands) {
    if (operand.symbol.empty()) continue;
    refer(operand.symbol);
    // Called through a pointer, it would announce what does not happen.
    if (parsed.mnemonic != "call" && is_of_hooks(operand.symbol)) find("the address of what announces accesses");
  }
  if (parsed.mnemonic == "call") return call(parsed, text);
  if (parsed.mnemonic[0] == 'j') join_pieces(), entered_ = false;
  // Into the middle of a function, say, past what announces an access there. (Switches are compiled without tables.)
  if (parsed.mnemonic == "jmp" && !parsed.operands.empty() && parsed.operands[0].indirect &&
      called(parsed.operands[0]).empty())
    find("a computed jump");
  if (parsed.mnemonic == "ret") make("\tcall\t*simt_seen_leave@GOTPCREL(%rip)");
  if (parsed.prefix == "rep" && parsed.operands.empty() && !parsed.mnemonic.empty() && parsed.mnemonic != "ret")
    announce_string(parsed);
  if (const Operand* const memory = parsed.memory()) {
    for (const Access& access : accesses_of(parsed)) announce(*memory, access);
  }
  emit(text);
  if (may_leave_stack(parsed)) make("\tcall\t*simt_seen_stack@GOTPCREL(%rip)");
  values_.run(parsed);
  if (parsed.mnemonic == "jmp" || parsed.mnemonic == "ret" || parsed.mnemonic == "ud2") {
    end_block();
    values_.forget(frame_bytes());
  }
}

// True if the name is that of a hook that announces an access at the address in rdi.
bool Rewriter::announcement(const std::string& name) {
  static const std::regex hook(R"(^__tsan_(?:unaligned_)?(?:volatile_)?(read_write|read|write)(_range|\d+)$)");
  std::smatch found;
  if (!std::regex_match(name, found, hook)) return false;
  int64_t bytes = std::atoi(found[2].str().c_str());
  if (found[2] == "_range") {
    const Value size = values_.of(rsi);
    bytes = size.terms.empty() ? size.constant : 0;
    if (!bytes) return false;  // of a size that only the running program knows: it stays
  }
  const bool loads = begins(found[1].str(), "read"), stores = found[1] != "read";
  announced_.push_back({values_.of(rdi), bytes, loads, stores, output_.size(), false,
                        name.find("volatile") != std::string::npos, passed_.size()});
  note(values_.of(rdi), bytes, loads, stores);
  return true;
}

void Rewriter::note(const Value& address, int64_t bytes, bool loads, bool stores) {
  if (values_.may_be_global(address)) passed_.push_back({address, bytes, loads, stores});
}

void Rewriter::call(const Instruction& call, std::string_view text) {
  const std::string name = call.operands.empty() ? "" : called(call.operands[0]);
  if (name.empty()) {
    if (const Operand* const memory = call.memory()) announce(*memory, {Kind::load, 8});
  }
  announcement(name);
  const bool enters = name == "__sanitizer_cov_trace_pc";
  if (name.empty() && !call.operands.empty())
    call_by_pointer(call.operands[0]);
  else if (enters && entered_)
    make("\tcall\t*simt_seen_same_block@GOTPCREL(%rip)");
  else
    emit(text);
  const bool clobbers = !is_hook(name);
  if (clobbers) end_block();
  entered_ |= enters;
  values_.call(clobbers, clobbers && (name.empty() || labels_.count(name)));
  if (name == "__tls_get_addr") values_.call_says_thread_local();
}

void Rewriter::announce(const Operand& memory, const Access& access) {
  const std::string& symbol = memory.symbol;
  const bool in_module = memory.base == rip;
  // Of the linker's table of addresses, and literals of the compiler.
  if (in_module && (symbol.find('@') != std::string::npos || begins(symbol, ".LC"))) return;
  if (memory.segment == "%fs" && memory.base == none && memory.index == none && symbol.empty()) return;  // %fs:40
  if (access.kind == Kind::load && values_.is_built_in(memory)) return;
  const Value address = values_.address(memory);
  if (memory.segment.empty() && (values_.is_in_frame(address) || is_announced(address, access))) return;
  note(address, access.bytes, access.kind != Kind::store, access.kind != Kind::load);
  const std::string what = access.kind == Kind::store ? "store" : access.kind == Kind::load ? "load" : "atomic";
  // What is below the stack pointer belongs to nobody: -mno-red-zone.
  const bool from_stack = memory.base == rsp;
  const bool in_register = memory.base != none && !in_module && !from_stack && symbol.empty() && memory.segment.empty();
  if (in_register) seen_.push_back({address, access, memory, output_.size()});
  make("	pushq\t%rdi");
  std::string place = memory.base == none && memory.index == none && !in_module
                          ? (symbol.empty() ? std::to_string(memory.displacement) : symbol)
                          : operand_text(memory, from_stack ? 8 : 0);
  make("	leaq\t" + place + ", %rdi");
  const std::string segment = memory.segment.empty() ? "" : "_tls";
  const bool usual =
      access.bytes == 1 || access.bytes == 2 || access.bytes == 4 || access.bytes == 8 || access.bytes == 16;
  // 10 bytes, of a long double, as 2.
  make("	call\t*simt_seen" + segment + "_" + what + std::to_string(usual ? access.bytes : 2) +
       "@GOTPCREL(%rip)");
  make("	popq\t%rdi");
}

// rep movs, rep stos: rcx times as many bytes as its last letter says, from rsi to rdi.
void Rewriter::announce_string(const Instruction& instruction) {
  const bool moves = begins(instruction.mnemonic, "movs");
  const char size = instruction.mnemonic.back();
  const int64_t each = size == 'b' ? 1 : size == 'w' ? 2 : size == 'l' ? 4 : 8;
  const Value count = values_.of(rcx);
  const int64_t bytes = count.terms.empty() ? count.constant * each : 0;
  for (const bool stores : {false, true}) {
    if (!stores && !moves) continue;
    const Register from = stores ? rdi : rsi;
    const Value& address = values_.of(from);
    const Access access = {stores ? Kind::store : Kind::load, static_cast<unsigned>(bytes)};
    if (bytes > 0 && (values_.is_in_frame(address) || is_announced(address, access))) continue;
    make("	pushq\t%rdi");
    make("	pushq\t%rsi");
    if (from == rsi) make("	movq\t%rsi, %rdi");
    make("	leaq\t0(,%rcx," + std::to_string(each) + "), %rsi");
    make(std::string("	call\t*simt_seen_") + (stores ? "store" : "load") + "_range@GOTPCREL(%rip)");
    make("	popq\t%rsi");
    make("	popq\t%rdi");
  }
}

}  // namespace announce
