// What the worker says to its client: its tables, that a variant has returned, or what went wrong.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#include "printed.h"
#include "protocol.h"
#include "rung.h"
#ifdef __SIMT__
#include "loaded_module.h"
#include "simt.h"
#endif

namespace rung {

// Included by worker.cpp alone. Nothing here has a name that the rung in the same process could link to.
namespace {

uint64_t current_job = 0;

void copy_text(char* to, size_t size, const char* from) {
  size_t length = strnlen(from, size - 1);
  memcpy(to, from, length);
  to[length] = 0;
}

void send_or_exit(const void* message, size_t size) {
  if (send(control_descriptor, message, size, MSG_NOSIGNAL) != static_cast<ssize_t>(size)) _exit(1);
}

// Static: also sent from a signal handler, which may run on a thread with a small stack.
Reply reply;

void begin_reply(Reply::Kind kind) {
  memset(&reply, 0, sizeof reply);
  reply.magic = reply_magic;
  reply.kind = kind;
  reply.job = current_job;
  reply.printed = printed;
}

[[noreturn]] void fail(const char* message) {
  begin_reply(Reply::failed);
  copy_text(reply.message, sizeof reply.message, message);
  send_or_exit(&reply, sizeof reply);
  _exit(1);
}

[[noreturn]] void fail(cudaError_t error, const char* doing) {
  begin_reply(Reply::failed);
  reply.error = error;
  copy_text(reply.error_name, sizeof reply.error_name, cudaGetErrorName(error));
  snprintf(reply.message, sizeof reply.message, "%s: %s (%s)", doing, cudaGetErrorName(error),
           cudaGetErrorString(error));
  send_or_exit(&reply, sizeof reply);
  _exit(1);
}

inline TableEntry entry_of(const Variant& variant) {
  TableEntry entry{};
  entry.op = static_cast<int32_t>(variant.op);
  entry.dtype = static_cast<int32_t>(variant.dtype);
  copy_text(entry.name, sizeof entry.name, variant.name);
  return entry;
}

inline PredictionEntry entry_of(const Prediction& prediction) {
  PredictionEntry entry{};
  copy_text(entry.name, sizeof entry.name, prediction.name);
  entry.value = prediction.value;
  return entry;
}

void send_tables(std::vector<TableEntry> variants, std::vector<PredictionEntry> predictions) {
  begin_reply(Reply::table);
  reply.count = static_cast<int32_t>(variants.size());
  reply.predictions = static_cast<int32_t>(predictions.size());
  send_or_exit(&reply, sizeof reply);
  for (TableEntry& entry : variants) {
    entry.magic = reply_magic;
    send_or_exit(&entry, sizeof entry);
  }
  for (PredictionEntry& entry : predictions) {
    entry.magic = reply_magic;
    send_or_exit(&entry, sizeof entry);
  }
}

#ifdef __SIMT__
void append(char* text, size_t size, const char* more) {
  size_t length = strlen(text);
  copy_text(text + length, size - length, more);
}

void append(char* text, size_t size, unsigned number) {
  char digits[11];
  char* p = digits + sizeof digits - 1;
  *p = 0;
  do *--p = static_cast<char>('0' + number % 10);
  while (number /= 10);
  append(text, size, p);
}

void append(char* text, size_t size, const unsigned (&index)[3]) {
  append(text, size, "(");
  for (int i = 0; i < 3; i++) {
    if (i) append(text, size, ",");
    append(text, size, index[i]);
  }
  append(text, size, ")");
}

// The path of the module that holds this address, "" if none does, and the offset in it.
uint64_t place_in_module(uintptr_t pc, char* path, size_t size) {
  path[0] = 0;
  const simt::LoadedModule module = pc ? simt::loaded_module(pc) : simt::LoadedModule();
  if (!module) return 0;
  module.path(path, size);
  return pc - module.base;
}

// Called by the executor when a kernel cannot go on, possibly in a signal handler: no stdio, no allocation.
void report_failure(const simt::Failure& failure) {
  static std::atomic_flag reported = ATOMIC_FLAG_INIT;
  while (reported.test_and_set()) pause();  // another thread is reporting already and ends the process
  begin_reply(Reply::failed);
  char* text = reply.message;
  const size_t size = sizeof reply.message;
  append(text, size, failure.what ? failure.what : "failure");
  if (failure.in_kernel) {
    append(text, size, "\nin block ");
    append(text, size, failure.block);
    append(text, size, ", thread ");
    append(text, size, failure.thread);
  } else {
    append(text, size, "\nin host code");
  }
  if (failure.detail[0]) {
    append(text, size, ": ");
    append(text, size, failure.detail);
  }
  if (failure.file) {
    copy_text(reply.file, sizeof reply.file, failure.file);
    reply.line = failure.line;
    place_in_module(failure.frames[0], reply.module, sizeof reply.module);
  } else {
    reply.offset = place_in_module(failure.pc, reply.module, sizeof reply.module);
  }
  char module[sizeof reply.module];
  static_assert(max_frames == simt::Failure::most_frames);
  for (int i = 0; i < max_frames; i++) {
    const uint64_t offset = place_in_module(failure.frames[i], module, sizeof module);
    if (module[0] && strcmp(module, reply.module) == 0) reply.frames[i] = offset;
  }
  send_or_exit(&reply, sizeof reply);
  _exit(1);
}
#endif

}  // namespace

}  // namespace rung
