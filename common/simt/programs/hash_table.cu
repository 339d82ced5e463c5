// A hash table of 65536 elements in 1024 buckets, each a list behind a spin lock; 60 blocks of 256 threads, a thread
// takes every 15360th element. First with keys that give the lanes of a warp different buckets, all lanes at once; then
// with random keys, which give several of them the same one, lane after lane.
//
// Figures by hand; 65536 / 32 = 2048 times a warp inserts elements, and 15360 is a multiple of 1024: in the first
// launch the threads of a block never meet at a bucket.
//   Loads: 32 keys of 4 bytes, 4 sectors, and 32 heads of 8 bytes in a row, 8 sectors.
// Expect: insert 1 l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum 4096
// Expect: insert 1 l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 24576
//   Stores: key, value and link of 32 entries of 16 bytes, 16 sectors each, and the heads again.
// Expect: insert 1 l1tex__t_requests_pipe_lsu_mem_global_op_st.sum 8192
// Expect: insert 1 l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum 114688
//   Atomics: 32 locks of 4 bytes in a row are taken, and given back.
// Expect: insert 1 l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum 4096
// Expect: insert 1 l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum 16384
//   In turn: how often a lane tries a lock depends on who holds it, but not how many bytes per element takes: 4 + 8
//   loaded, 4 + 4 + 8 + 8 stored.
// Expect: insert_in_turn 1 global_bytes_op_ld 786432
// Expect: insert_in_turn 1 global_bytes_op_st 1572864
//   The footprint in sectors of 32 bytes: keys, heads and locks are read; entries, heads and locks are written.
// Expect: insert_in_turn 1 sectors_read 8576
// Expect: insert_in_turn 1 sectors_written 33152
#include <cstdio>
#include <vector>

constexpr int elements = 65536, buckets = 1024;

struct Entry {
  unsigned key;
  int value;
  Entry* next;
};

struct Table {
  Entry **heads, *entries;
  int* locks;
};

struct Lock {
  int* state;
  __device__ explicit Lock(int* state) : state(state) {
    while (atomicCAS(state, 0, 1) != 0) {
    }
    __threadfence();
  }
  __device__ void release() {
    __threadfence();
    atomicExch(state, 0);
  }
};

__device__ void insert_one(const unsigned* keys, int i, Table table) {
  const unsigned key = keys[i], bucket = key % buckets;
  Entry* const entry = &table.entries[i];
  entry->key = key;
  entry->value = i;
  Lock lock(&table.locks[bucket]);
  entry->next = table.heads[bucket];
  table.heads[bucket] = entry;
  lock.release();
}

__global__ void insert(const unsigned* keys, Table table) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < elements; i += gridDim.x * blockDim.x)
    insert_one(keys, i, table);
}

// For hardware whose lanes would wait for each other for ever.
__global__ void insert_in_turn(const unsigned* keys, Table table) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < elements; i += gridDim.x * blockDim.x) {
    for (int lane = 0; lane < 32; lane++) {
      if (threadIdx.x % 32 == lane) insert_one(keys, i, table);
    }
  }
}

// Is every element once in the table, in the bucket of its key?
bool is_complete(const std::vector<unsigned>& keys, Table table) {
  std::vector<Entry*> heads(buckets);
  std::vector<Entry> entries(elements);
  cudaMemcpy(heads.data(), table.heads, buckets * sizeof(Entry*), cudaMemcpyDeviceToHost);
  cudaMemcpy(entries.data(), table.entries, elements * sizeof(Entry), cudaMemcpyDeviceToHost);
  std::vector<int> found(elements);
  for (unsigned bucket = 0; bucket < buckets; bucket++) {
    for (const Entry* at = heads[bucket]; at;) {
      const Entry& entry = entries[at - table.entries];
      if (entry.key % buckets != bucket || entry.key != keys[entry.value] || found[entry.value]++) return false;
      at = entry.next;
    }
  }
  for (int count : found) {
    if (count != 1) return false;
  }
  return true;
}

int main() {
  unsigned* device_keys;
  Table table;
  cudaMalloc(&device_keys, elements * sizeof(unsigned));
  cudaMalloc(&table.heads, buckets * sizeof(Entry*));
  cudaMalloc(&table.entries, elements * sizeof(Entry));
  cudaMalloc(&table.locks, buckets * sizeof(int));
  cudaMemset(table.locks, 0, buckets * sizeof(int));
  bool right = true;
  for (const bool in_turn : {false, true}) {
    std::vector<unsigned> keys(elements);
    unsigned random = 1;
    for (unsigned i = 0; i < elements; i++) {
      random = random * 1664525u + 1013904223u;
      keys[i] = in_turn ? random >> 8 : i;
    }
    cudaMemcpy(device_keys, keys.data(), elements * sizeof(unsigned), cudaMemcpyHostToDevice);
    cudaMemset(table.heads, 0, buckets * sizeof(Entry*));
    if (in_turn) {
      insert_in_turn<<<60, 256>>>(device_keys, table);
    } else {
      insert<<<60, 256>>>(device_keys, table);
    }
    const bool complete = is_complete(keys, table);
    std::printf("%s: %s\n", in_turn ? "lane after lane" : "all lanes at once", complete ? "complete" : "not complete");
    right &= complete;
  }
  right &= cudaGetLastError() == cudaSuccess;
  cudaFree(device_keys);
  cudaFree(table.heads);
  cudaFree(table.entries);
  cudaFree(table.locks);
  std::puts(right ? "PASS" : "FAIL");
  return right ? 0 : 1;
}
