// Keeps the code of a worker's process as it was loaded: from seal_code() on no page becomes executable that was
// written to, and from seal_mappings() on no file is mapped as code. A rung shares the process with the executor, which
// counts and checks; its data a rung can reach, its code then not.
//
// Linux on x86-64 and aarch64, by seccomp and Landlock. Elsewhere, and where a kernel or a container refuses it,
// nothing happens.
#pragma once

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace rung {

namespace {

#if defined(__x86_64__)
#define RUNG_AUDIT_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define RUNG_AUDIT_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef RUNG_AUDIT_ARCH
// The filter's language: a jump skips so many instructions if its condition holds, else it goes on. Flags and numbers
// that are looked at fit in 32 bits, the lower half of an argument.
constexpr sock_filter load(size_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<__u32>(offset)); }
constexpr sock_filter argument(int i) { return load(offsetof(seccomp_data, args) + 8 * static_cast<size_t>(i)); }
constexpr sock_filter upper_half(int i) {
  return load(offsetof(seccomp_data, args) + 8 * static_cast<size_t>(i) + 4);  // both architectures: little-endian
}
constexpr sock_filter unless_equal(long value, __u8 skipped) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<__u32>(value), 0, skipped);
}
constexpr sock_filter unless_any_of(long bits, __u8 skipped) {
  return BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, static_cast<__u32>(bits), 0, skipped);
}
constexpr sock_filter keep(long bits) { return BPF_STMT(BPF_ALU | BPF_AND | BPF_K, static_cast<__u32>(bits)); }
constexpr sock_filter refuse() { return BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM); }
constexpr sock_filter kill() { return BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS); }
constexpr sock_filter allow() { return BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW); }
constexpr sock_filter number() { return load(offsetof(seccomp_data, nr)); }

template <size_t count>
bool install(sock_filter (&filter)[count]) {
  const sock_fprog program = {count, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

// A system call that is refused whatever its arguments.
#define RUNG_REFUSE(name) unless_equal(SYS_##name, 1), refuse()
// One that is refused unless its first argument is this.
#define RUNG_REFUSE_UNLESS(name, value) \
  unless_equal(SYS_##name, 4), argument(0), unless_equal(value, 1), allow(), refuse()
// One that is refused if any of these bits of an argument is set.
#define RUNG_REFUSE_BITS(name, i, bits) \
  unless_equal(SYS_##name, 3), argument(i), unless_any_of(bits, 1), refuse(), number()
// One that is refused if the memory that it is about, from its first argument on and as long as its second says, is the
// program's. In blocks of 16 MiB, so that an address is a number of 32 bits; a child, which the filter stays with, is
// hardly ever so near.
#define RUNG_BLOCK_OF(i)                                                                   \
  upper_half(i), BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 8), BPF_STMT(BPF_ST, 1), argument(i), \
      BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 24), BPF_STMT(BPF_LDX | BPF_MEM, 1), BPF_STMT(BPF_ALU | BPF_OR | BPF_X, 0)
#define RUNG_REFUSE_PROGRAM(name)                                                                                    \
  unless_equal(SYS_##name, 21), RUNG_BLOCK_OF(0), BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, last_block, 13, 0),            \
      BPF_STMT(BPF_ST, 0), RUNG_BLOCK_OF(1), BPF_STMT(BPF_LDX | BPF_MEM, 0), BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0), \
      BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 2), BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first_block, 0, 1), refuse(),      \
      number()
#endif

}  // namespace

// To be called before a rung is loaded. False if it could not be done.
inline bool seal_code() {
#ifdef RUNG_AUDIT_ARCH
  // The linker's: where the program begins and ends in memory.
  extern char first[] __asm__("__executable_start"), last[] __asm__("_end");
  const auto first_block = static_cast<__u32>(reinterpret_cast<uintptr_t>(first) >> 24);
  const auto last_block = static_cast<__u32>(reinterpret_cast<uintptr_t>(last) >> 24);
  sock_filter filter[] = {
      load(offsetof(seccomp_data, arch)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, RUNG_AUDIT_ARCH, 1, 0), kill(), number(),
#ifdef __x86_64__
      // The same calls under other numbers (x32).
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), kill(),
#endif
      RUNG_REFUSE_BITS(mprotect, 2, PROT_EXEC), RUNG_REFUSE_PROGRAM(mprotect),
      RUNG_REFUSE_BITS(pkey_mprotect, 2, PROT_EXEC), RUNG_REFUSE_PROGRAM(pkey_mprotect),
      // Writable and executable at once.
      unless_equal(SYS_mmap, 5), argument(2), keep(PROT_WRITE | PROT_EXEC), unless_equal(PROT_WRITE | PROT_EXEC, 1),
      refuse(), number(),
      // A place that is asked for, and more than 4 GiB from anywhere.
      unless_equal(SYS_mmap, 7), argument(3), unless_any_of(MAP_FIXED, 4), upper_half(1), unless_equal(0, 1),
      BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0), refuse(), number(), RUNG_REFUSE_PROGRAM(mmap), RUNG_REFUSE_PROGRAM(munmap),
      RUNG_REFUSE_PROGRAM(mremap), RUNG_REFUSE_BITS(mremap, 3, MREMAP_FIXED), RUNG_REFUSE(remap_file_pages),
      RUNG_REFUSE(shmat), RUNG_REFUSE(memfd_create), RUNG_REFUSE(ptrace), RUNG_REFUSE(process_vm_writev),
      RUNG_REFUSE(personality), allow()};
  return install(filter);
#else
  return false;
#endif
}

// For the host code of graded rungs: no process or thread can be started, no program, no connection; and no signal sent
// but to itself. False if it could not be done.
inline bool seal_processes() {
#ifdef RUNG_AUDIT_ARCH
  const long self = getpid();
  sock_filter filter[] = {
      load(offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, RUNG_AUDIT_ARCH, 1, 0),
      kill(),
      number(),
#ifdef __x86_64__
      RUNG_REFUSE(fork),
      RUNG_REFUSE(vfork),
#endif
      RUNG_REFUSE(clone),
      RUNG_REFUSE(clone3),
      RUNG_REFUSE(execve),
      RUNG_REFUSE(execveat),
      RUNG_REFUSE(socket),
      RUNG_REFUSE(socketpair),
      RUNG_REFUSE(process_vm_readv),
      RUNG_REFUSE(pidfd_open),
      RUNG_REFUSE(tkill),
      RUNG_REFUSE_UNLESS(kill, self),
      RUNG_REFUSE_UNLESS(tgkill, self),
      allow(),
  };
  return install(filter);
#else
  return false;
#endif
}

// For graded rungs: no file can be opened to be written to, but for those in /dev. Through /proc/self/mem a process
// could change its code whatever its pages allow. False if it could not be done (Linux before 5.13, or without
// Landlock).
inline bool seal_files() {
#ifdef SYS_landlock_restrict_self
  landlock_ruleset_attr handled{};
  handled.handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE;
  const long rules = syscall(SYS_landlock_create_ruleset, &handled, sizeof handled.handled_access_fs, 0);
  if (rules < 0) return false;
  landlock_path_beneath_attr devices{};
  devices.allowed_access = LANDLOCK_ACCESS_FS_WRITE_FILE;
  devices.parent_fd = open("/dev", O_PATH | O_CLOEXEC);
  if (devices.parent_fd >= 0) {
    syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &devices, 0);
    close(devices.parent_fd);
  }
  const bool sealed = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(SYS_landlock_restrict_self, rules, 0) == 0;
  close(static_cast<int>(rules));
  return sealed;
#else
  return false;
#endif
}

}  // namespace rung
