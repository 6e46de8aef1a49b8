/*
 * The threads of emulated CUDA. The blocks of a cluster run together, one cluster after the other; each thread is a
 * fiber that runs until a barrier holds it. A barrier of a block, a warp or a cluster that can no longer be reached by
 * all is an error, as it is on a GPU. Threads run forwards or backwards and blocks of a cluster fall behind, by a draw,
 * and shared memory is NaNs before a block writes it and after the block has ended, so that a forgotten barrier shows in
 * the numbers.
 */
#ifndef DART_CUDA_EMULATE_THREADS_H
#define DART_CUDA_EMULATE_THREADS_H

#include <setjmp.h>
#include <ucontext.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

namespace emulate {

constexpr unsigned kWarp = 32;
constexpr size_t kStackBytes = 64 * 1024;

struct Dimension {
  unsigned x;
};

/* Counts arrivals; every `expected` of them begin a new phase. */
struct Barrier {
  unsigned expected = 0, arrived = 0, phase = 0;
};

struct Warp {
  Barrier barrier;
  uint64_t values[2][kWarp]; /* of a shuffle; two sets, since the fastest lane may be one shuffle ahead */
};

struct Block {
  unsigned index;
  Barrier barrier;
  std::vector<Warp> warps;
  std::vector<unsigned char> shared; /* dynamic shared memory */
  unsigned unfinished;               /* threads */
};

struct PendingCopy {
  void *to;
  const void *from;
};

struct Fiber {
  ucontext_t context; /* for the first entry; later switches are jumps, which make no system call */
  jmp_buf resume;
  std::unique_ptr<char[]> stack;
  Block *block;
  Dimension thread, block_index;
  unsigned shuffles;
  std::vector<PendingCopy> copies;
  const Barrier *held_by; /* nullptr: may run */
  unsigned held_phase;
  unsigned cluster_phase; /* between arriving at the cluster's barrier and waiting there */
  bool started, finished;
};

struct Machine {
  jmp_buf scheduler;
  std::vector<Fiber> fibers;
  std::vector<Block> blocks; /* of the running cluster */
  Barrier cluster;
  std::function<void()> body;
  Fiber *running = nullptr;
  Dimension grid;
};

inline Machine machine;

inline Fiber &self() { return *machine.running; }

inline void yield_to_scheduler() {
  if (_setjmp(self().resume) == 0) _longjmp(machine.scheduler, 1);
}

/* The shared memory of a block that has ended is another's: whoever still reads it gets NaNs. */
inline void leave(Block &block) {
  if (--block.unfinished == 0) std::memset(block.shared.data(), 0xff, block.shared.size());
}

inline void fiber_main() {
  machine.body();
  self().finished = true;
  leave(*self().block);
  _longjmp(machine.scheduler, 1);
}

inline void enter(Fiber &fiber) {
  machine.running = &fiber;
  if (_setjmp(machine.scheduler) != 0) return;
  if (fiber.started) _longjmp(fiber.resume, 1);
  fiber.started = true;
  setcontext(&fiber.context);
}

/* The phase that a later wait is for. */
inline unsigned arrive(Barrier &barrier) {
  const unsigned phase = barrier.phase;
  if (++barrier.arrived == barrier.expected) {
    barrier.arrived = 0;
    barrier.phase += 1;
  }
  return phase;
}

inline void wait(const Barrier &barrier, unsigned phase) {
  while (barrier.phase == phase) {
    self().held_by = &barrier;
    self().held_phase = phase;
    yield_to_scheduler();
  }
}

inline void synchronize(Barrier &barrier) { wait(barrier, arrive(barrier)); }

inline Warp &own_warp() { return self().block->warps[self().thread.x / kWarp]; }

/* Every lane gives a value and gets the one of lane `from`. */
inline uint64_t exchange(uint64_t value, unsigned from) {
  Warp &warp = own_warp();
  uint64_t *values = warp.values[self().shuffles++ % 2];
  values[self().thread.x % kWarp] = value;
  synchronize(warp.barrier);
  return values[from % kWarp];
}

inline void start(Fiber &fiber, Block &block, unsigned thread) {
  if (!fiber.stack) fiber.stack.reset(new char[kStackBytes]);
  fiber.block = &block;
  fiber.thread = {thread};
  fiber.block_index = {block.index};
  fiber.shuffles = 0;
  fiber.copies.clear();
  fiber.held_by = nullptr;
  fiber.started = fiber.finished = false;
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.get();
  fiber.context.uc_stack.ss_size = kStackBytes;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, fiber_main, 0);
}

/* A number below `limit` that looks random; the same in every run of a program. */
inline unsigned draw(unsigned limit) {
  static uint32_t state = 1;
  state = state * 1664525u + 1013904223u;
  return (state >> 16) % limit;
}

/* Runs every thread that may run, but those of block `asleep`, to its next barrier or its end; returns how many did. */
inline unsigned sweep(unsigned count, bool backwards, const Block *asleep) {
  unsigned ran = 0;
  for (unsigned k = 0; k < count; k++) {
    Fiber &fiber = machine.fibers[backwards ? count - 1 - k : k];
    if (fiber.finished || fiber.block == asleep || (fiber.held_by != nullptr && fiber.held_by->phase == fiber.held_phase)) continue;
    fiber.held_by = nullptr;
    enter(fiber);
    ran += 1;
  }
  return ran;
}

/* Until nobody can go on. */
inline void run_threads(unsigned blocks, unsigned count) {
  for (;;) {
    const bool backwards = draw(2) == 1;
    const unsigned lazy = draw(blocks + 1);
    if (lazy < blocks && sweep(count, backwards, &machine.blocks[lazy]) > 0) continue;
    if (sweep(count, backwards, nullptr) == 0) return;
  }
}

inline void run_cluster(unsigned first_block, unsigned blocks, unsigned threads, size_t shared_bytes) {
  if (machine.fibers.size() < blocks * threads) machine.fibers.resize(blocks * threads);
  machine.blocks.resize(blocks);
  machine.cluster = Barrier{blocks * threads};
  for (unsigned b = 0; b < blocks; b++) {
    Block &block = machine.blocks[b];
    block.index = first_block + b;
    block.barrier = Barrier{threads};
    block.warps.assign((threads + kWarp - 1) / kWarp, Warp{});
    for (unsigned w = 0; w < block.warps.size(); w++) block.warps[w].barrier.expected = threads - w * kWarp < kWarp ? threads - w * kWarp : kWarp;
    block.shared.assign(shared_bytes + 16, 0xff);
    block.unfinished = threads;
    for (unsigned k = 0; k < threads; k++) start(machine.fibers[b * threads + k], block, k);
  }
  run_threads(blocks, blocks * threads);
  for (unsigned k = 0; k < blocks * threads; k++) {
    if (machine.fibers[k].finished) continue;
    std::fprintf(stderr, "emulated CUDA: thread %u of block %u waits at a barrier that the others never reach\n", k % threads, first_block + k / threads);
    std::abort();
  }
}

inline void run_grid(unsigned grid, unsigned threads, unsigned cluster, size_t shared_bytes, std::function<void()> body) {
  machine.body = std::move(body);
  machine.grid = {grid};
  for (unsigned first = 0; first < grid; first += cluster) run_cluster(first, cluster, threads, shared_bytes);
}

inline unsigned char *dynamic_shared(Block &block) {
  unsigned char *start = block.shared.data();
  return start + (16 - reinterpret_cast<uintptr_t>(start) % 16) % 16;
}

}  // namespace emulate

#endif
