// What kernels print with. A kernel may pass any pointer for a text: each byte of one is read as a load of the
// kernel's, so that it is counted and checked, and nothing is ever written through an argument.
#include "device_printf.h"

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "../instrument/recorder.h"

namespace simt::apart {

namespace {

#define SIMT_CALLER reinterpret_cast<uintptr_t>(__builtin_return_address(0))

constexpr int widest = 4096;  // of one number or text; a kernel's output is for reading

// A text in memory of the kernel's choice.
class Text {
 public:
  Text(const char* at, uintptr_t caller) : at_(at), caller_(caller) {}
  char next() {
    record(reinterpret_cast<uintptr_t>(at_), 1, Event::load, caller_);
    return *at_++;
  }

 private:
  const char* at_;
  const uintptr_t caller_;
};

// At most `most` characters of a text.
std::string read(const char* at, int most, uintptr_t caller) {
  std::string text;
  Text from(at, caller);
  while (static_cast<int>(text.size()) < most) {
    const char next = from.next();
    if (!next) break;
    text += next;
  }
  return text;
}

// A conversion as CUDA has it: %[flags][width][.precision][size]type.
struct Conversion {
  std::string flags;
  int width = 0, precision = -1;  // -1: none was given
  std::string size;               // hh, h, or ll for a number of 8 bytes
  char type = 0;                  // 0: it is none of CUDA's

  template <typename T>
  std::string of(T value) const {
    const std::string format = "%" + flags + "*.*" + size + type;
    const int length = std::snprintf(nullptr, 0, format.c_str(), width, precision, value);
    std::string text(static_cast<size_t>(length < 0 ? 0 : length) + 1, '\0');
    std::snprintf(text.data(), text.size(), format.c_str(), width, precision, value);
    text.pop_back();
    return text;
  }
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A number of the format's, or the next argument in place of *.
int number(Text* format, char* c, va_list list) {
  if (*c == '*') {
    *c = format->next();
    return va_arg(list, int);
  }
  int value = 0;
  for (; is_digit(*c); *c = format->next()) value = value > widest ? value : 10 * value + (*c - '0');
  return value;
}

// What follows a %.
Conversion conversion(Text* format, va_list list) {
  Conversion found;
  char c = format->next();
  for (; c && std::strchr("-+ #0", c); c = format->next()) {
    if (found.flags.find(c) == std::string::npos) found.flags += c;
  }
  found.width = number(format, &c, list);
  if (c == '.') {
    c = format->next();
    found.precision = number(format, &c, list);
  }
  for (; c && std::strchr("hlzjt", c); c = format->next())
    found.size = c != 'h' ? "ll" : found.size == "h" ? "hh" : "h";
  if (found.width < -widest || found.width > widest || found.precision > widest) return found;
  if (c && std::strchr("diouxXeEfFgGaAcsp%", c)) found.type = c;
  if (c && !std::strchr("diouxX", c)) found.size.clear();
  return found;
}

std::string printed(const Conversion& as, va_list list, uintptr_t caller) {
  switch (as.type) {
    case '%': return "%";
    case 's': {
      const std::string text = read(va_arg(list, const char*), as.precision < 0 ? 1 << 20 : as.precision, caller);
      return as.of(text.c_str());
    }
    case 'c': return std::string(1, static_cast<char>(va_arg(list, int)));
    case 'p': return as.of(va_arg(list, void*));
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X': return as.size == "ll" ? as.of(va_arg(list, long long)) : as.of(va_arg(list, int));
    default: return as.of(va_arg(list, double));
  }
}

}  // namespace

int device_printf(const char* format, ...) {
  const uintptr_t caller = SIMT_CALLER;
  std::string text;
  int arguments = 0;
  va_list list;
  va_start(list, format);
  Text rest(format, caller);
  while (const char c = rest.next()) {
    if (c != '%') {
      text += c;
      continue;
    }
    const Conversion as = conversion(&rest, list);
    if (!as.type) {
      arguments = -1;
      break;
    }
    arguments += as.type != '%';
    text += printed(as, list, caller);
  }
  va_end(list);
  if (arguments >= 0) std::fwrite(text.data(), 1, text.size(), stdout);
  return arguments;
}

// What a compiler makes of a printf that needs no formatting.
int device_puts(const char* text) {
  const std::string line = read(text, 1 << 20, SIMT_CALLER) + "\n";
  std::fwrite(line.data(), 1, line.size(), stdout);
  return 0;
}
int device_putchar(int character) { return std::putchar(character), 1; }

}  // namespace simt::apart
