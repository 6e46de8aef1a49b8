/*
 * Rows of f32, bf16 or f16 as 16-byte vectors. A row may begin anywhere: a few loose elements before the first 16-byte
 * boundary and after the last whole vector are handled one by one, so that no vector access is misaligned.
 */
#ifndef DART_CUDA_VECTORS_CUH
#define DART_CUDA_VECTORS_CUH

#include "common.cuh"

namespace dart {

#ifdef __CUDACC__

/* Loads and stores of global memory in this order as written: the compiler may not move a load past a store (in place). */
__device__ inline uint4 load_vector(const uint4 *from) {
  uint4 v;
  asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(__cvta_generic_to_global(from))
               : "memory");
  return v;
}
__device__ inline void store_vector(uint4 *to, uint4 v) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}
__device__ inline void store_vector(uint2 *to, uint2 v) {
  asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(to)), "r"(v.x), "r"(v.y) : "memory");
}

/* Global to shared memory without a register between; there once the same thread has called finish_copies(). */
__device__ inline void begin_copy(uint4 *to, const uint4 *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(__cvta_generic_to_global(from)) : "memory");
}
__device__ inline void finish_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

/* Two 16-bit numbers as the halves of a word, rounded to nearest even; and back. */
__device__ inline uint32_t pack_bf16(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *(const uint32_t *)&pair;
}
__device__ inline uint32_t pack_f16(float low, float high) {
  const __half2 pair = __floats2half2_rn(low, high);
  return *(const uint32_t *)&pair;
}
__device__ inline void unpack_f16(uint32_t word, float *low, float *high) {
  const float2 pair = __half22float2(*(const __half2 *)&word);
  *low = pair.x;
  *high = pair.y;
}

#else

inline uint4 load_vector(const uint4 *from) { return *emulate::aligned(from); }
inline void store_vector(uint4 *to, uint4 v) { *emulate::aligned(to) = v; }
inline void store_vector(uint2 *to, uint2 v) { *emulate::aligned(to) = v; }
inline void begin_copy(uint4 *to, const uint4 *from) { emulate::self().copies.push_back({emulate::aligned(to), emulate::aligned(from)}); }
inline void finish_copies() {
  for (const emulate::PendingCopy &copy : emulate::self().copies) std::memcpy(copy.to, copy.from, sizeof(uint4));
  emulate::self().copies.clear();
}

inline uint32_t pack_bf16(float low, float high) { return __float2bfloat16_rn(low).bits | (uint32_t)__float2bfloat16_rn(high).bits << 16; }
inline uint32_t pack_f16(float low, float high) { return __float2half_rn(low).bits | (uint32_t)__float2half_rn(high).bits << 16; }
inline void unpack_f16(uint32_t word, float *low, float *high) {
  *low = __half2float({(uint16_t)word});
  *high = __half2float({(uint16_t)(word >> 16)});
}

#endif

__device__ inline float load(const float *from) { return *from; }
__device__ inline float load(const __nv_bfloat16 *from) { return __bfloat162float(*from); }
__device__ inline float load(const __half *from) { return __half2float(*from); }
__device__ inline void store(float *to, float value) { *to = value; }
__device__ inline void store(__nv_bfloat16 *to, float value) { *to = __float2bfloat16_rn(value); }
__device__ inline void store(__half *to, float value) { *to = __float2half_rn(value); }

/* The elements of one vector, and a vector of elements without mass (-inf). */
template <typename T>
struct Packed;

template <>
struct Packed<float> {
  static constexpr int kCount = 4;
  static constexpr uint32_t kNoMass = 0xff800000u;
  __device__ static void unpack(uint32_t word, float *x) { *x = __uint_as_float(word); }
};
template <>
struct Packed<__nv_bfloat16> {
  static constexpr int kCount = 8;
  static constexpr uint32_t kNoMass = 0xff80ff80u;
  __device__ static void unpack(uint32_t word, float *x) {
    x[0] = __uint_as_float(word << 16);
    x[1] = __uint_as_float(word & 0xffff0000u);
  }
};
template <>
struct Packed<__half> {
  static constexpr int kCount = 8;
  static constexpr uint32_t kNoMass = 0xfc00fc00u;
  __device__ static void unpack(uint32_t word, float *x) { unpack_f16(word, x, x + 1); }
};

template <typename T>
__device__ inline void unpack(const uint4 &vector, float (&x)[Packed<T>::kCount]) {
  constexpr int each = Packed<T>::kCount / 4;
  Packed<T>::unpack(vector.x, x);
  Packed<T>::unpack(vector.y, x + each);
  Packed<T>::unpack(vector.z, x + 2 * each);
  Packed<T>::unpack(vector.w, x + 3 * each);
}

template <typename T>
__device__ inline uint4 no_mass() {
  constexpr uint32_t word = Packed<T>::kNoMass;
  return uint4{word, word, word, word};
}

__device__ inline int width_of(int32_t type) { return type == DART_F32 ? 4 : 2; }

__device__ inline void store_as(void *to, int32_t type, int64_t index, float value) {
  if (type == DART_F32) store((float *)to + index, value);
  if (type == DART_BF16) store((__nv_bfloat16 *)to + index, value);
  if (type == DART_F16) store((__half *)to + index, value);
}

/* Whether `count` consecutive elements of the type that begin at `address` can be stored as vectors. */
__device__ inline bool fits_vectors(const void *address, int32_t type, int count) {
  const int bytes = count * width_of(type);
  return (uintptr_t)address % (bytes < 16 ? bytes : 16) == 0;
}

/* kCount elements from `index` on as vectors; the address must fit. */
template <int kCount>
__device__ inline void store_vectors(void *to, int32_t type, int64_t index, const float (&x)[kCount]) {
  if (type == DART_F32) {
    uint4 *place = (uint4 *)((float *)to + index);
#pragma unroll
    for (int k = 0; k < kCount; k += 4)
      store_vector(place + k / 4, uint4{__float_as_uint(x[k]), __float_as_uint(x[k + 1]), __float_as_uint(x[k + 2]), __float_as_uint(x[k + 3])});
    return;
  }
  uint32_t words[kCount / 2];
#pragma unroll
  for (int k = 0; k < kCount; k += 2) words[k / 2] = type == DART_BF16 ? pack_bf16(x[k], x[k + 1]) : pack_f16(x[k], x[k + 1]);
  uint16_t *place = (uint16_t *)to + index;
  if constexpr (kCount == 8)
    store_vector((uint4 *)place, uint4{words[0], words[1], words[2], words[3]});
  else
    store_vector((uint2 *)place, uint2{words[0], words[1]});
}

/* A row, or one rank's share of it: whole vectors, and for rank 0 the loose elements, one for each of the first threads. */
template <typename T>
struct Slice {
  static constexpr int kCount = Packed<T>::kCount;
  const uint4 *vectors;
  int count; /* of them */
  int first; /* index in the row of the first one's first element */
  int loose; /* index of this thread's loose element, -1: it has none */

  __device__ int element_of(int vector) const { return first + vector * kCount; }
};

template <typename T>
__device__ inline Slice<T> slice_of(const T *row, int64_t vocabulary, int rank, int ranks) {
  constexpr int each = Slice<T>::kCount;
  const int size = (int)vocabulary, thread = threadIdx.x, misaligned = (int)((uintptr_t)row % sizeof(uint4));
  const int boundary = misaligned == 0 ? 0 : ((int)sizeof(uint4) - misaligned) / (int)sizeof(T);
  const int head = boundary < size ? boundary : size;
  const int vectors = (size - head) / each, tail = head + vectors * each;
  const int share = (vectors + ranks - 1) / ranks, begin = rank * share < vectors ? rank * share : vectors;
  Slice<T> slice;
  slice.first = head + begin * each;
  slice.vectors = (const uint4 *)(row + slice.first);
  slice.count = vectors - begin < share ? vectors - begin : share;
  slice.loose = thread < head ? thread : thread - head + tail;
  if (rank != 0 || slice.loose >= size) slice.loose = -1;
  return slice;
}

}  // namespace dart

#endif
