#include "accesses.h"

#include <cstring>
#include <unordered_map>
#include <unordered_set>

namespace announce {

namespace {

bool begins(const std::string& text, const char* with) { return text.compare(0, std::strlen(with), with) == 0; }

unsigned bytes_of_suffix(char suffix) {
  switch (suffix) {
    case 'b': return 1;
    case 'w': return 2;
    case 'l': return 4;
    case 'q': return 8;
    default: return 0;
  }
}

enum class How { loads, stores, updates, by_place, nothing };
struct Entry {
  How how;  // what it does to a memory operand; by_place: stores to the last, loads any other
  unsigned bytes;
};

// General instructions without their suffix b, w, l or q.
const std::unordered_map<std::string, How>& general() {
  static const auto* const map = [] {
    auto* const made = new std::unordered_map<std::string, How>;
    for (const char* name : {"mov", "movabs"}) (*made)[name] = How::by_place;
    for (const char* name : {"cmp", "test", "bt", "imul", "mul", "div", "idiv", "bsf", "bsr", "push", "call", "jmp"})
      (*made)[name] = How::loads;
    for (const char* name :
         {"add", "sub", "adc", "sbb", "and", "or",   "xor",  "inc", "dec", "neg", "not",  "sal",  "sar",    "shl",
          "shr", "rol", "ror", "rcl", "rcr", "shld", "shrd", "bts", "btr", "btc", "xchg", "xadd", "cmpxchg"})
      (*made)[name] = How::updates;
    (*made)["pop"] = How::stores;
    (*made)["lea"] = (*made)["nop"] = (*made)["bswap"] = How::nothing;
    return made;
  }();
  return *map;
}

const std::unordered_map<std::string, Entry>& others() {
  static const auto* const map = [] {
    auto* const made = new std::unordered_map<std::string, Entry>;
    const auto add = [&](How how, unsigned bytes, std::initializer_list<const char*> names) {
      for (const char* const name : names) (*made)[name] = {how, bytes};
    };
    add(How::loads, 1, {"movzbl", "movzbw", "movzbq", "movsbl", "movsbw", "movsbq"});
    add(How::loads, 2, {"movzwl", "movzwq", "movswl", "movswq"});
    add(How::loads, 4,
        {"movslq", "cvtsi2ss", "cvtsi2sd", "cvtsi2ssl", "cvtsi2sdl", "cvtss2sd", "cvtss2si", "cvttss2si", "cvtss2sil",
         "cvttss2sil", "cvtss2siq", "cvttss2siq"});
    add(How::loads, 8,
        {"cvtsi2ssq", "cvtsi2sdq", "cvtsd2ss", "cvtsd2si", "cvttsd2si", "cvtsd2sil", "cvttsd2sil", "cvtsd2siq",
         "cvttsd2siq", "cvtps2pd", "cvtdq2pd", "cvtpi2ps", "cvtpi2pd"});
    add(How::loads, 16, {"cvtdq2ps", "cvtps2dq", "cvttps2dq", "cvtpd2ps", "cvtpd2dq", "cvttpd2dq"});
    add(How::by_place, 4, {"movss", "movd"});
    add(How::by_place, 8, {"movsd", "movq", "movlps", "movlpd", "movhps", "movhpd"});
    add(How::by_place, 16,
        {"movaps", "movapd", "movups", "movupd", "movdqa", "movdqu", "movntps", "movntpd", "movntdq"});
    add(How::by_place, 4, {"movnti", "movntil"});
    add(How::by_place, 8, {"movntiq"});
    add(How::nothing, 0,
        {"movhlps", "movlhps",    "movmskps",   "movmskpd",   "pmovmskb",    "cltq",      "cltd",  "cqto",   "cwtl",
         "cbtw",    "cwtd",       "ret",        "leave",      "ud2",         "endbr64",   "pause", "lfence", "mfence",
         "sfence",  "prefetcht0", "prefetcht1", "prefetcht2", "prefetchnta", "prefetchw", "sahf",  "lahf",   "cld"});
    add(How::loads, 2, {"pinsrw"});
    add(How::stores, 2, {"pextrw"});
    for (const char* operation : {"add", "sub", "mul", "div", "min", "max", "sqrt", "rcp", "rsqrt"}) {
      for (const auto& [type, bytes] : {std::pair{"ss", 4u}, {"sd", 8u}, {"ps", 16u}, {"pd", 16u}})
        (*made)[std::string(operation) + type] = {How::loads, bytes};
    }
    for (const char* condition : {"eq", "lt", "le", "unord", "neq", "nlt", "nle", "ord", ""}) {
      for (const auto& [type, bytes] : {std::pair{"ss", 4u}, {"sd", 8u}, {"ps", 16u}, {"pd", 16u}})
        (*made)[std::string("cmp") + condition + type] = {How::loads, bytes};
    }
    add(How::loads, 4, {"comiss", "ucomiss"});
    add(How::loads, 8, {"comisd", "ucomisd"});
    for (const char* type : {"ps", "pd"}) {
      for (const char* operation : {"and", "andn", "or", "xor", "unpckl", "unpckh", "shuf"})
        (*made)[std::string(operation) + type] = {How::loads, 16};
    }
    for (const char* size : {"b", "w", "d", "q"}) {
      for (const char* operation : {"padd", "psub", "pcmpeq", "pcmpgt", "psll", "psrl", "psra", "padds", "paddus",
                                    "psubs", "psubus", "pavg", "pmaxu", "pmaxs", "pminu", "pmins"})
        (*made)[std::string(operation) + size] = {How::loads, 16};
    }
    add(How::loads, 16, {"pand",      "pandn",     "por",        "pxor",      "pmullw",    "pmulhw",    "pmulhuw",
                         "pmuludq",   "pmaddwd",   "psadbw",     "pshufd",    "pshufhw",   "pshuflw",   "punpcklbw",
                         "punpcklwd", "punpckldq", "punpcklqdq", "punpckhbw", "punpckhwd", "punpckhdq", "punpckhqdq",
                         "packsswb",  "packssdw",  "packuswb",   "pslldq",    "psrldq"});
    // long double
    add(How::loads, 4,
        {"flds", "fildl", "fadds", "fsubs", "fsubrs", "fmuls", "fdivs", "fdivrs", "fiaddl", "fisubl", "fimull",
         "fidivl", "fcoms", "fcomps"});
    add(How::loads, 8, {"fldl", "fildq", "fildll", "faddl", "fsubl", "fsubrl", "fmull", "fdivl", "fdivrl"});
    add(How::loads, 2, {"filds", "fldcw", "fildw"});
    add(How::loads, 10, {"fldt"});
    add(How::stores, 4, {"fsts", "fstps", "fistl", "fistpl", "fisttpl"});
    add(How::stores, 8, {"fstl", "fstpl", "fistpq", "fistpll", "fisttpq", "fisttpll"});
    add(How::stores, 2, {"fnstcw", "fistps", "fists", "fnstsw"});
    add(How::stores, 10, {"fstpt"});
    add(How::nothing, 0,
        {"fld",     "fst",    "fstp",    "fxch",    "fadd",     "faddp",   "fsub",    "fsubp",  "fsubr",
         "fsubrp",  "fmul",   "fmulp",   "fdiv",    "fdivp",    "fdivr",   "fdivrp",  "fabs",   "fchs",
         "fld1",    "fldz",   "fldpi",   "fldl2e",  "fldl2t",   "fldlg2",  "fldln2",  "fucomi", "fucomip",
         "fcomi",   "fcomip", "fsqrt",   "frndint", "fscale",   "fprem",   "fprem1",  "fxam",   "fxtract",
         "f2xm1",   "fyl2x",  "fpatan",  "fptan",   "fsin",     "fcos",    "fsincos", "fcmovb", "fcmove",
         "fcmovbe", "fcmovu", "fcmovnb", "fcmovne", "fcmovnbe", "fcmovnu", "ffree",   "fwait",  "fnclex"});
    return made;
  }();
  return *map;
}

bool is_condition(const std::string& text) {
  static const std::unordered_set<std::string> conditions = {
      "a",  "ae", "b",   "be", "c",   "e",  "g",  "ge", "l",  "le", "na", "nae", "nb", "nbe", "nc",
      "ne", "ng", "nge", "nl", "nle", "no", "np", "ns", "nz", "o",  "p",  "pe",  "po", "s",   "z"};
  return conditions.count(text) > 0;
}

// False if it is not known.
bool find(const Instruction& instruction, Entry* entry) {
  const std::string& name = instruction.mnemonic;
  const bool vector = !instruction.operands.empty() && [&] {
    for (const Operand& operand : instruction.operands) {
      if (begins(operand.text, "%xmm")) return true;
    }
    return false;
  }();
  const auto other = others().find(name);
  if (other != others().end() && (vector || name != "movq")) return *entry = other->second, true;
  if (begins(name, "set") && is_condition(name.substr(3))) return *entry = {How::stores, 1}, true;
  if (name[0] == 'j' && is_condition(name.substr(1))) return *entry = {How::nothing, 0}, true;
  if (begins(name, "cmov")) {
    const std::string rest = name.substr(4);
    const int bytes = instruction.operands.empty() ? 0 : bytes_of_register(instruction.last().text);
    if (is_condition(rest) || (rest.size() > 1 && is_condition(rest.substr(0, rest.size() - 1))))
      return *entry = {How::loads, static_cast<unsigned>(bytes)}, true;
  }
  const auto whole = general().find(name);
  if (whole != general().end()) {
    // The size is that of a register, or that of an address.
    unsigned bytes = 8;
    for (const Operand& operand : instruction.operands) {
      if (const int size = bytes_of_register(operand.text)) bytes = static_cast<unsigned>(size);
    }
    return *entry = {whole->second, bytes}, true;
  }
  if (name.size() < 2) return false;
  const auto stem = general().find(name.substr(0, name.size() - 1));
  const unsigned bytes = bytes_of_suffix(name.back());
  if (stem == general().end() || !bytes) return false;
  return *entry = {stem->second, bytes}, true;
}

}  // namespace

std::vector<Access> accesses_of(const Instruction& instruction) {
  Entry entry;
  const Operand* const memory = instruction.memory();
  if (!memory || !find(instruction, &entry)) return {};
  switch (entry.how) {
    case How::nothing: return {};
    case How::loads: return {{Kind::load, entry.bytes}};
    case How::stores: return {{Kind::store, entry.bytes}};
    case How::by_place: return {{memory == &instruction.last() ? Kind::store : Kind::load, entry.bytes}};
    case How::updates: break;
  }
  // An exchange with memory is one at once, also without the prefix.
  const bool exchanges = begins(instruction.mnemonic, "xchg");
  if (instruction.prefix == "lock" || exchanges) return {{Kind::atomic, entry.bytes}};
  if (memory != &instruction.last()) return {{Kind::load, entry.bytes}};
  return {{Kind::load, entry.bytes}, {Kind::store, entry.bytes}};
}

bool is_known(const Instruction& instruction) {
  static const std::unordered_set<std::string> string_moves = {"movsb", "movsw", "movsl", "movsq",
                                                               "stosb", "stosw", "stosl", "stosq"};
  if (instruction.mnemonic.empty()) return true;  // a prefix by itself
  if (string_moves.count(instruction.mnemonic) && (instruction.prefix == "rep" || instruction.prefix.empty()) &&
      instruction.operands.empty())
    return instruction.prefix == "rep";
  Entry entry;
  return find(instruction, &entry);
}

}  // namespace announce
