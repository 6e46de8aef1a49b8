/*
 * AdamW and the global gradient norm. Eight elements a thread at a time, in 16-byte accesses where all arrays lie on 16
 * bytes, one by one where they do not. Sums in a fixed order, so that the same gradients give the same bits.
 */
#include "../adamw_math.h"
#include "../validate.h"
#include "vectors.cuh"

namespace dart {
namespace {

constexpr int kGroup = 8; /* elements: one vector of a 16-bit type, two of f32 */
constexpr int kNormBlocks = 1024; /* at most: a small tensor has a thread a group */

struct Partial {
  double squares;
  double nonfinite;
};

/* Elements [index, index + kGroup) of an array that lies on 16 bytes. */
template <typename T>
__device__ void load_group(const void *from, int64_t index, float (&x)[kGroup]) {
  constexpr int count = Packed<T>::kCount;
  const uint4 *vectors = (const uint4 *)((const T *)from + index);
#pragma unroll
  for (int part = 0; part < kGroup / count; part++) {
    float some[count];
    unpack<T>(load_vector(vectors + part), some);
#pragma unroll
    for (int k = 0; k < count; k++) x[part * count + k] = some[k];
  }
}

template <typename T>
bool lies_on_vectors(const T *pointer) {
  return (uintptr_t)pointer % sizeof(uint4) == 0;
}

/* Squares in double, which no f32 overflows; the count as an integer, since many GPUs are slow at doubles. */
struct ThreadSums {
  double squares = 0;
  int64_t nonfinite = 0;

  __device__ void add(float gradient) {
    squares += (double)gradient * gradient;
    nonfinite += gradient - gradient == 0.0f ? 0 : 1;
  }
};

/* `groups` whole groups as vectors, the elements after them one by one. */
template <typename T>
__global__ void norm_kernel(const T *gradient, int64_t size, int64_t groups, int64_t stride, Partial *partial) {
  const int64_t thread = (int64_t)blockIdx.x * kThreads + threadIdx.x;
  ThreadSums sums;
  for (int64_t group = thread; group < groups; group += stride) {
    float g[kGroup];
    load_group<T>(gradient, group * kGroup, g);
#pragma unroll
    for (int k = 0; k < kGroup; k++) sums.add(g[k]);
  }
  for (int64_t i = groups * kGroup + thread; i < size; i += stride) sums.add(load(gradient + i));
  const Partial own = {block_reduce(sums.squares, Add()), block_reduce((double)sums.nonfinite, Add())};
  if (threadIdx.x == 0) partial[blockIdx.x] = own;
}

__global__ void norm_total_kernel(const Partial *partial, int blocks, double *sum_of_squares, double *nonfinite) {
  Partial own = {0, 0};
  for (int block = threadIdx.x; block < blocks; block += kThreads) {
    own.squares += partial[block].squares;
    own.nonfinite += partial[block].nonfinite;
  }
  own.squares = block_reduce(own.squares, Add());
  own.nonfinite = block_reduce(own.nonfinite, Add());
  if (threadIdx.x != 0) return;
  *sum_of_squares += own.squares;
  *nonfinite += own.nonfinite;
}

template <typename T>
int launch_norm(const dart_gradient_norm_args &args) {
  Partial *partial = (Partial *)args.workspace;
  const int64_t groups = lies_on_vectors(args.gradient) ? args.size / kGroup : 0;
  Shape shape = for_each_of(groups + args.size - groups * kGroup);
  if (shape.blocks > kNormBlocks) shape.blocks = kNormBlocks;
  DART_TRY(launch(norm_kernel<T>, shape, args.stream, (const T *)args.gradient, args.size, groups, shape.blocks * kThreads, partial));
  return launch(norm_total_kernel, {1}, args.stream, (const Partial *)partial, (int)shape.blocks, args.sum_of_squares, args.nonfinite);
}

/* What multiplies each gradient: gradient_scale and the clipping. */
__device__ float gradient_factor(const dart_adamw_args &args) {
  double factor = args.gradient_scale;
  if (args.sum_of_squares != nullptr) factor *= fmin(1.0, args.max_grad_norm / (sqrt(*args.sum_of_squares) + 1e-6));
  return (float)factor;
}

/* The weights that are updated: the f32 ones beside the parameter, or the parameter. */
template <typename P>
__device__ void update_one(const dart_adamw_args &args, int64_t i, float gradient, const AdamwStep &step) {
  P *parameter = (P *)args.parameter + i;
  float weight = args.master != nullptr ? args.master[i] : load(parameter);
  adamw_update(weight, gradient, args.first_moment[i], args.second_moment[i], step);
  if (args.master != nullptr) args.master[i] = weight;
  store(parameter, weight);
}

/* A group in registers: gradient, moments and weights are all on their way before the first is needed. */
struct Group {
  float gradient[kGroup], first[kGroup], second[kGroup], weight[kGroup];

  template <typename P, typename G>
  __device__ void load(const dart_adamw_args &args, int64_t at) {
    load_group<G>(args.gradient, at, gradient);
    load_group<float>(args.first_moment, at, first);
    load_group<float>(args.second_moment, at, second);
    if (args.master != nullptr)
      load_group<float>(args.master, at, weight);
    else
      load_group<P>(args.parameter, at, weight);
  }

  __device__ void update_and_store(const dart_adamw_args &args, int64_t at, const AdamwStep &step) {
#pragma unroll
    for (int k = 0; k < kGroup; k++) adamw_update(weight[k], gradient[k], first[k], second[k], step);
    store_vectors(args.first_moment, DART_F32, at, first);
    store_vectors(args.second_moment, DART_F32, at, second);
    if (args.master != nullptr) store_vectors(args.master, DART_F32, at, weight);
    store_vectors(args.parameter, args.parameter_type, at, weight);
  }
};

/* A thread a group, then a thread an element. The norm is read here, so that the host need not wait for it. */
template <typename P, typename G>
__global__ void adamw_kernel(const __grid_constant__ dart_adamw_args args, AdamwStep step, int64_t groups) {
  const int64_t thread = (int64_t)blockIdx.x * kThreads + threadIdx.x;
  const int64_t element = groups * kGroup + thread - groups;
  if (args.nonfinite != nullptr && *args.nonfinite > 0) return;
  Group group;
  if (thread < groups) group.load<P, G>(args, thread * kGroup);
  __shared__ float factor;
  if (threadIdx.x == 0) factor = gradient_factor(args);
  __syncthreads();
  step.gradient_scale = factor;
  if (thread < groups)
    group.update_and_store(args, thread * kGroup, step);
  else if (element < args.size)
    update_one<P>(args, element, load((const G *)args.gradient + element), step);
}

template <typename P, typename G>
int launch_adamw(const dart_adamw_args &args) {
  const bool vectors = lies_on_vectors(args.parameter) && lies_on_vectors(args.gradient) && lies_on_vectors(args.first_moment) &&
                       lies_on_vectors(args.second_moment) && lies_on_vectors(args.master);
  const int64_t groups = vectors ? args.size / kGroup : 0;
  return launch(adamw_kernel<P, G>, for_each_of(groups + args.size - groups * kGroup), args.stream, args, adamw_step(args), groups);
}

template <typename P>
int launch_adamw(const dart_adamw_args &args) {
  if (args.gradient_type == DART_F32) return launch_adamw<P, float>(args);
  if (args.gradient_type == DART_BF16) return launch_adamw<P, __nv_bfloat16>(args);
  return launch_adamw<P, __half>(args);
}

}  // namespace
}  // namespace dart

extern "C" int64_t dart_gradient_norm_workspace(int64_t) { return dart::kNormBlocks * (int64_t)sizeof(dart::Partial); }

extern "C" int dart_gradient_norm(const dart_gradient_norm_args *args) {
  if (const char *problem = dart::problem_with(*args)) return dart::fail(DART_BAD_ARGUMENT, problem);
  if (args->gradient_type == DART_F32) return dart::launch_norm<float>(*args);
  if (args->gradient_type == DART_BF16) return dart::launch_norm<__nv_bfloat16>(*args);
  return dart::launch_norm<__half>(*args);
}

extern "C" int dart_adamw(const dart_adamw_args *args) {
  if (const char *problem = dart::problem_with(*args)) return dart::fail(DART_BAD_ARGUMENT, problem);
  return args->parameter_type == DART_F32 ? dart::launch_adamw<float>(*args) : dart::launch_adamw<__nv_bfloat16>(*args);
}
