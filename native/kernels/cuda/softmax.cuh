/*
 * The statistics of a row in one pass: each thread keeps the greatest logit that it has seen, the sum of
 * e = exp((x - maximum) / T) and the sum of e * y, y = (x - maximum) / T * log2 e, and rescales both sums when a greater
 * one comes. Per thread in f32, together in double, always in the same order.
 */
#ifndef DART_CUDA_SOFTMAX_CUH
#define DART_CUDA_SOFTMAX_CUH

#include <cfloat>

#include "../policy_math.h"
#include "cluster.cuh"
#include "vectors.cuh"

/* 384: plan.cuh says why. The emulation takes fewer. */
#ifndef DART_ROW_THREADS
#define DART_ROW_THREADS 384
#endif

namespace dart {

constexpr int kRowThreads = DART_ROW_THREADS;
constexpr int kRowWarps = kRowThreads / kWarp;
constexpr double kLog2E = 1.4426950408889634, kLn2 = 0.6931471805599453;

/* 2^-200 is 0 in f32: an exponent that stands for "no mass" and leaves 0 * y a number, unlike -inf. */
constexpr float kNoMassExponent = -200.0f;

#ifdef __CUDACC__
/* 2^x within 2^-22 of itself; results below 2^-126 are 0. */
__device__ inline float exp2_fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
/* The greater one; NaN when either is, which fmaxf would drop. */
__device__ inline float max_or_nan(float a, float b) {
  float c;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
  return c;
}
#else
/* As far off as the GPU's may be, 2^-22, now above and now below. */
inline float exp2_fast(float x) {
  if (x == 0 || !(x == x)) return x + 1;
  return x < -126 ? 0.0f : std::exp2(x) * (__float_as_uint(x) & 1 ? 1 + 0x1p-22f : 1 - 0x1p-22f);
}
inline float max_or_nan(float a, float b) { return std::isnan(a) || std::isnan(b) ? NAN : a > b ? a : b; }
#endif

/* Where a maximum starts: finite, so that -inf taken off it stays -inf. */
constexpr float kLeast = -FLT_MAX;

/* y of a logit. The difference first: logits of 1e4 keep their digits. factor = log2 e / T. */
__device__ inline float exponent_of(float x, float maximum, float factor) { return max_or_nan((x - maximum) * factor, kNoMassExponent); }

/* One thread's part. */
struct Online {
  float maximum = kLeast;
  float sum = 0;
  float moment = 0;

  template <int kCount>
  __device__ void add(const float (&x)[kCount], float factor) {
    const float before = maximum;
#pragma unroll
    for (int k = 0; k < kCount; k++) maximum = fmaxf(maximum, x[k]);
    const float shift = exponent_of(before, maximum, factor), shrink = exp2_fast(shift);
    moment = shrink * (moment + sum * shift);
    sum *= shrink;
#pragma unroll
    for (int k = 0; k < kCount; k++) {
      const float y = exponent_of(x[k], maximum, factor), e = exp2_fast(y);
      sum += e;
      moment += e * y;
    }
  }
};

/* The part of a warp, a block or a cluster. */
struct Partial {
  float maximum;
  double sum;
  double moment;
};

__device__ inline Partial counted_from(const Partial &part, float maximum, float factor) {
  const float shift = exponent_of(part.maximum, maximum, factor);
  const double shrink = exp2_fast(shift);
  return {maximum, part.sum * shrink, shrink * (part.moment + part.sum * shift)};
}

/* Together, in the same order of additions in every lane. */
__device__ inline Partial merge_warp(const Partial &own, float factor) {
  Partial part = counted_from(own, warp_reduce(own.maximum, Maximum()), factor);
  part.sum = warp_reduce(part.sum, Add());
  part.moment = warp_reduce(part.moment, Add());
  return part;
}

/* What the threads of a block tell each other; the beginning of a block's dynamic shared memory. */
struct alignas(16) Exchange {
  Partial warps[kRowWarps];
  Partial block;
};

/*
 * The whole row, known to thread 0 of each of its blocks, which all get the same bytes. With clusters it reads the other
 * blocks' shared memory: each block must wait for the others before it ends (cluster_arrive, cluster_wait).
 */
__device__ inline Partial merge_row(const Online &own, Exchange *exchange, float factor, int ranks) {
  const Partial warp = merge_warp({own.maximum, own.sum, own.moment}, factor);
  if (threadIdx.x % kWarp == 0) exchange->warps[threadIdx.x / kWarp] = warp;
  __syncthreads();
  Partial total = {kLeast, 0, 0};
  if (threadIdx.x < kWarp) {
    if (threadIdx.x < kRowWarps) total = exchange->warps[threadIdx.x];
    total = merge_warp(total, factor);
  }
  if (ranks == 1) return total;
  if (threadIdx.x == 0) exchange->block = total;
  row_barrier(ranks);
  if (threadIdx.x != 0) return total;
  float maximum = kLeast;
  for (int rank = 0; rank < ranks; rank++) maximum = fmaxf(maximum, in_block(&exchange->block, rank)->maximum);
  total = {maximum, 0, 0};
  for (int rank = 0; rank < ranks; rank++) {
    const Partial part = counted_from(*in_block(&exchange->block, rank), maximum, factor);
    total.sum += part.sum;
    total.moment += part.moment;
  }
  return total;
}

__device__ inline RowStatistics statistics_of(const Partial &row, float target) {
  if (row.sum == 0) return {row.maximum, -INFINITY, target, 0.0f}; /* no mass at all; a row of NaNs has a sum of NaN */
  const double log_sum = log(row.sum);
  return {row.maximum, (float)log_sum, target, (float)(log_sum - row.moment * kLn2 / row.sum)};
}

__device__ inline float factor_of(double temperature) { return (float)(kLog2E / temperature); }

/* Vectors that a thread has in flight at once where it reads a row without keeping it. */
constexpr int kBatch = 4;

/* Adds this thread's loose element and returns it; -inf where there is none. */
template <typename T>
__device__ inline float add_loose(const T *row, const Slice<T> &slice, float factor, Online &own) {
  const float x[1] = {slice.loose >= 0 ? load(row + slice.loose) : -INFINITY};
  own.add(x, factor);
  return x[0];
}

template <typename T>
__device__ inline void add_vector(const uint4 &vector, float factor, Online &own) {
  float x[Slice<T>::kCount];
  unpack<T>(vector, x);
  own.add(x, factor);
}

/* kVectors vectors of this thread from `first` on, kRowThreads apart; past the end of the slice there is no mass. */
template <typename T, int kVectors>
__device__ inline void load_batch(const Slice<T> &slice, int first, uint4 (&batch)[kVectors]) {
#pragma unroll
  for (int k = 0; k < kVectors; k++) {
    const int vector = first + k * kRowThreads;
    batch[k] = vector < slice.count ? load_vector(slice.vectors + vector) : no_mass<T>();
  }
}

/* Statistics of a row that is read and not kept. */
template <typename T>
__device__ inline void add_streamed(const Slice<T> &slice, float factor, Online &own) {
  uint4 batch[kBatch];
  for (int first = threadIdx.x; first < slice.count; first += kBatch * kRowThreads) {
    load_batch(slice, first, batch);
#pragma unroll
    for (int k = 0; k < kBatch; k++) add_vector<T>(batch[k], factor, own);
  }
}

}  // namespace dart

#endif
