/* What the kernels of the policy loss share: a token's slot, its outputs, and the gradient of a row. */
#ifndef DART_CUDA_POLICY_ROWS_CUH
#define DART_CUDA_POLICY_ROWS_CUH

#include "softmax.cuh"

namespace dart {

/* A token's numbers between the kernels; the workspace has one for each row, then the partial statistics. */
struct Slot {
  RowStatistics row;
  TokenTerms terms;
  RowState state;
};

/* Adds up the slots into args.statistics, in a fixed order. Returns a dart_status. */
int sum_statistics(const dart_policy_loss_args &args, const Slot *slots);
/* For losses that need a sequence's mean before a token's gradient: statistics, terms, gradient. Returns a dart_status. */
int launch_sequence_loss(const dart_policy_loss_args &args, Slot *slots);

/* A row without loss; an excluded target keeps its -inf, so that a reader sees why. */
__device__ inline void write_unscored(const dart_policy_loss_args &args, int64_t row, RowState state, Slot &slot) {
  slot.state = state;
  args.logp[row] = state == RowState::excluded ? -INFINITY : 0.0f;
  args.entropy[row] = args.ratio[row] = args.weight[row] = args.token_loss[row] = 0;
}

__device__ inline void write_scored(const dart_policy_loss_args &args, int64_t row, const RowStatistics &statistics, const TokenTerms &terms,
                                    Slot &slot) {
  slot = {statistics, terms, RowState::scored};
  args.logp[row] = (float)terms.logp;
  args.entropy[row] = statistics.entropy;
  args.ratio[row] = (float)terms.ratio;
  args.weight[row] = (float)terms.weight;
  args.token_loss[row] = (float)terms.loss;
}

template <typename T>
__device__ inline const T *logits_of(const dart_policy_loss_args &args, int64_t row) {
  return (const T *)args.logits + row * args.logits_stride;
}

__device__ inline void *dlogits_of(const dart_policy_loss_args &args, int64_t row) {
  return (char *)args.dlogits + row * args.dlogits_stride * width_of(args.dlogits_type);
}

/* dlogits_j = target * delta_jy - e_j (constant + slope * y_j), e and y as in softmax.cuh; 1 / T and 1 / sum are in the factors. */
struct RowGradient {
  float maximum;
  float factor;
  float constant;
  float slope;
  float target;
};

/* From [g (delta_jy - p_j) - h p_j (ln p_j + H)] / T, with g = dL/dlogp and h = dL/dH, both times the scale. */
__device__ inline RowGradient row_gradient(const dart_policy_loss_args &args, int64_t row, const RowStatistics &statistics, const TokenTerms &terms) {
  const double scale = args.scale[row] / args.temperature, g = scale * terms.d_logp, h = scale * terms.d_entropy;
  const double inverse_sum = exp(-(double)statistics.log_sum);
  const double constant = (g + h * ((double)statistics.entropy - statistics.log_sum)) * inverse_sum;
  return {statistics.maximum, factor_of(args.temperature), (float)constant, (float)(h * kLn2 * inverse_sum), (float)g};
}

/* Writes a slice's dlogits: as vectors where they lie on vectors, else one by one. */
template <typename T>
struct GradientWriter {
  static constexpr int kCount = Slice<T>::kCount;
  Slice<T> slice;
  RowGradient terms;
  void *row;
  int32_t type;
  int32_t target;
  bool as_vectors;

  __device__ GradientWriter(const dart_policy_loss_args &args, int64_t index, const Slice<T> &slice, const RowGradient &terms)
      : slice(slice), terms(terms), row(dlogits_of(args, index)), type(args.dlogits_type), target(args.target[index]) {
    as_vectors = fits_vectors((const char *)row + (int64_t)slice.first * width_of(type), type, kCount);
  }

  /* Never -0: a gradient of nothing is 0. */
  __device__ float away(float x) const {
    const float y = exponent_of(x, terms.maximum, terms.factor);
    return 0.0f - exp2_fast(y) * (terms.constant + terms.slope * y);
  }

  __device__ void write(int vector, const uint4 &logits) const {
    float x[kCount];
    unpack<T>(logits, x);
#pragma unroll
    for (int k = 0; k < kCount; k++) x[k] = away(x[k]);
    const int first = slice.element_of(vector), lane = target - first;
    if (lane >= 0 && lane < kCount) {
#pragma unroll
      for (int k = 0; k < kCount; k++) x[k] += k == lane ? terms.target : 0.0f;
    }
    if (as_vectors) return store_vectors(row, type, first, x);
#pragma unroll
    for (int k = 0; k < kCount; k++) store_as(row, type, first + k, x[k]);
  }

  __device__ void write_loose(float x) const {
    if (slice.loose < 0) return;
    store_as(row, type, slice.loose, away(x) + (slice.loose == target ? terms.target : 0.0f));
  }

  /* Reads the slice a second time; each thread reads a vector before it writes it, so it may be in place. */
  __device__ void write_streamed() const {
    uint4 batch[kBatch];
    for (int first = threadIdx.x; first < slice.count; first += kBatch * kRowThreads) {
      load_batch(slice, first, batch);
#pragma unroll
      for (int k = 0; k < kBatch; k++)
        if (first + k * kRowThreads < slice.count) write(first + k * kRowThreads, batch[k]);
    }
  }
};

template <typename T>
__device__ inline void zero_slice(void *row, int32_t type, int64_t size, int rank, int ranks) {
  const Slice<T> slice = slice_of((const T *)row, size, rank, ranks);
  uint4 *vectors = (uint4 *)slice.vectors;
  for (int vector = threadIdx.x; vector < slice.count; vector += kRowThreads) store_vector(vectors + vector, uint4{0, 0, 0, 0});
  if (slice.loose >= 0) store_as(row, type, slice.loose, 0.0f);
}

/* The one write that a row without loss costs. Zeros have the same bits in both types of 16 bits. */
__device__ inline void write_zeros(const dart_policy_loss_args &args, int64_t row, int rank, int ranks) {
  if (args.dlogits == nullptr) return;
  if (args.dlogits_type == DART_F32)
    zero_slice<float>(dlogits_of(args, row), args.dlogits_type, args.vocabulary, rank, ranks);
  else
    zero_slice<__nv_bfloat16>(dlogits_of(args, row), args.dlogits_type, args.vocabulary, rank, ranks);
}

}  // namespace dart

#endif
