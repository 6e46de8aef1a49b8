/*
 * The threads of the kernels, apart from libuv's. A call's work is cut into pieces that do not depend on how many
 * threads there are, and each piece writes its own results: the same bytes for any number.
 */
#ifndef DART_CPU_THREADS_H
#define DART_CPU_THREADS_H

#include <cstdint>

namespace dart {

#ifdef DART_SHARE_EVERYTHING /* for checks: the least work goes to the pool, row by row */
constexpr int64_t kWorthWaking = 0, kPiece = 1;
#else
/* Work below which another thread is not worth its waking (tens of microseconds), and what a thread takes at a time. */
constexpr int64_t kWorthWaking = 1 << 17, kPiece = 1 << 14;
#endif

using Piece = void (*)(const void *context, int64_t begin, int64_t end);

/*
 * Calls piece(context, begin, end) for pieces of `each` items that cover [0, items), on this thread and, where there is
 * work enough, on those of the pool. `work` is a measure of it all: kernel elements, some tenths of a nanosecond each.
 * Returns when all is done. Calls from several threads are safe: who finds the pool busy works alone.
 */
void run_pieces(int64_t items, int64_t each, int64_t work, Piece piece, const void *context);

/* The same with a callable visit(begin, end). */
template <typename Visit>
void for_pieces(int64_t items, int64_t each, int64_t work, const Visit &visit) {
  run_pieces(items, each, work, [](const void *context, int64_t begin, int64_t end) { (*static_cast<const Visit *>(context))(begin, end); }, &visit);
}

constexpr int kMostThreads = 1024;

int thread_count();
/* 0: as many as this process may run on. Threads that are not wanted any more are joined. */
void set_thread_count(int threads);

/*
 * Rows that a thread takes at a time: enough that taking costs nothing, and neighbours, so that a long row can be fetched
 * while the one before is worked on; yet several pieces for each thread.
 */
inline int64_t rows_of_a_piece(int64_t rows, int64_t vocabulary) {
  const int64_t share = rows / (4 * thread_count());
  const int64_t neighbours = kPiece == 1 ? 2 : share < 8 ? share : 8;
  const int64_t small = kPiece / vocabulary;
  return small > neighbours ? small : neighbours > 1 ? neighbours : 1;
}

/* `size` floats of the calling thread's own, on a multiple of 64 bytes, for one piece of work. NULL: no memory. */
float *thread_scratch(int64_t size);

}  // namespace dart

#endif
