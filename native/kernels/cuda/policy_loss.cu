/*
 * Fused policy loss and log-probability with entropy on CUDA. Three kernels: statistics (a block a row), terms (a thread
 * a token or a sequence), gradient (a block a row); a fourth adds up the statistics in a fixed order. Logits are read
 * three times and dlogits written once.
 */
#include "../validate.h"
#include "common.cuh"

namespace dart {
namespace {

/* A token's numbers between the kernels; the workspace is one for each row. */
struct Slot {
  RowStatistics row;
  TokenTerms terms;
  RowState state;
};

template <typename T>
__device__ RowStatistics row_statistics(const T *row, int64_t vocabulary, int32_t target, float inverse_temperature) {
  RowStatistics out;
  float greatest = -INFINITY;
  for (int64_t j = threadIdx.x; j < vocabulary; j += kThreads) greatest = fmaxf(greatest, load(row + j));
  out.maximum = block_reduce(greatest, Maximum());
  out.target = target < 0 ? -INFINITY : load(row + target);
  out.log_sum = -INFINITY;
  out.entropy = 0;
  if (out.maximum == -INFINITY) return out;
  float sum = 0, weighted = 0;
  for (int64_t j = threadIdx.x; j < vocabulary; j += kThreads) {
    const float d = (load(row + j) - out.maximum) * inverse_temperature;
    if (d == -INFINITY) continue; /* no mass; 0 * -inf would be NaN */
    const float e = expf(d);
    sum += e;
    weighted += e * d;
  }
  const double total = block_reduce((double)sum, Add());
  const double moment = block_reduce((double)weighted, Add());
  out.log_sum = (float)log(total);
  out.entropy = (float)(log(total) - moment / total);
  return out;
}

template <typename T>
__global__ void statistics_kernel(dart_policy_loss_args args, Slot *slots) {
  const int64_t row = blockIdx.x;
  if (is_ignored(args, row)) {
    if (threadIdx.x == 0) slots[row].state = RowState::ignored;
    return;
  }
  const T *logits = (const T *)args.logits + row * args.logits_stride;
  const RowStatistics statistics = row_statistics(logits, args.vocabulary, args.target[row], (float)(1.0 / args.temperature));
  if (threadIdx.x != 0) return;
  slots[row].row = statistics;
  slots[row].state = state_of(args, row, statistics);
}

__device__ void write_token(const dart_policy_loss_args &args, int64_t row, Slot &slot, SequenceMeans means) {
  if (slot.state != RowState::scored) {
    args.logp[row] = slot.state == RowState::excluded ? -INFINITY : 0.0f;
    args.entropy[row] = args.ratio[row] = args.weight[row] = args.token_loss[row] = 0;
    return;
  }
  const TokenTerms terms = token_terms(args, row, slot.row, means);
  slot.terms = terms;
  args.logp[row] = (float)terms.logp;
  args.entropy[row] = slot.row.entropy;
  args.ratio[row] = (float)terms.ratio;
  args.weight[row] = (float)terms.weight;
  args.token_loss[row] = (float)terms.loss;
}

/* Means over a sequence's scored tokens, as policy_math.h has them, from slots instead of bare statistics. */
__device__ SequenceMeans means_of(const dart_policy_loss_args &args, const Slot *slots, int64_t begin, int64_t end) {
  SequenceSums sums;
  for (int64_t row = begin; row < end; row++)
    if (slots[row].state == RowState::scored) add_to_sequence(sums, args, row, slots[row].row);
  return sequence_means(sums);
}

/* One thread for each sequence when its tokens share a mean, else one for each token. */
__global__ void terms_kernel(dart_policy_loss_args args, Slot *slots, int64_t spans) {
  const int64_t span = (int64_t)blockIdx.x * kThreads + threadIdx.x;
  if (span >= spans) return;
  const bool shared = needs_sequences(args);
  const int64_t begin = shared ? args.sequence_offsets[span] : span, end = shared ? args.sequence_offsets[span + 1] : span + 1;
  const SequenceMeans means = means_of(args, slots, begin, end);
  for (int64_t row = begin; row < end; row++) write_token(args, row, slots[row], means);
}

template <typename T, typename D>
__global__ void gradient_kernel(dart_policy_loss_args args, const Slot *slots) {
  const int64_t row = blockIdx.x;
  const Slot &slot = slots[row];
  const T *logits = (const T *)args.logits + row * args.logits_stride;
  D *dlogits = (D *)args.dlogits + row * args.dlogits_stride;
  if (slot.state != RowState::scored) {
    for (int64_t j = threadIdx.x; j < args.vocabulary; j += kThreads) store(dlogits + j, 0.0f);
    return;
  }
  const float scale = args.scale[row], inverse_temperature = (float)(1.0 / args.temperature);
  const float a = (float)(scale * slot.terms.d_logp / args.temperature), b = (float)(scale * slot.terms.d_entropy / args.temperature);
  const float inverse_sum = (float)exp(-(double)slot.row.log_sum);
  const int32_t target = args.target[row];
  for (int64_t j = threadIdx.x; j < args.vocabulary; j += kThreads) {
    const float d = (load(logits + j) - slot.row.maximum) * inverse_temperature;
    const float p = expf(d) * inverse_sum;
    const float towards = j == target ? a : 0.0f;
    const float away = d == -INFINITY ? 0.0f : p * (a + b * (d - slot.row.log_sum + slot.row.entropy));
    store(dlogits + j, towards - away);
  }
}

/* One block; thread k adds rows k, k + kThreads, … and the partial sums are combined in a fixed order. */
__global__ void reduce_statistics_kernel(dart_policy_loss_args args, const Slot *slots) {
  dart_policy_statistics sums = {};
  for (int64_t row = threadIdx.x; row < args.rows; row += kThreads) {
    const Slot &slot = slots[row];
    if (slot.state == RowState::scored) count_token(sums, slot.terms, args.scale[row], slot.row.entropy);
    sums.ignored += slot.state == RowState::ignored ? 1 : 0;
    sums.excluded += slot.state == RowState::excluded ? 1 : 0;
  }
  const double greatest = block_reduce(sums.weight_max, Maximum());
  double *field = (double *)&sums;
  for (int k = 0; k < (int)(sizeof sums / sizeof(double)); k++) field[k] = block_reduce(field[k], Add());
  sums.weight_max = greatest;
  if (threadIdx.x == 0) *args.statistics = sums;
}

template <typename T>
int launch(const dart_policy_loss_args &args) {
  Slot *slots = (Slot *)args.workspace;
  const unsigned rows = (unsigned)args.rows;
  const int64_t spans = needs_sequences(args) ? args.sequences : args.rows;
  if (rows > 0) {
    launch_kernel(statistics_kernel<T>, rows, args.stream, args, slots);
    launch_kernel(terms_kernel, blocks_for(spans), args.stream, args, slots, spans);
  }
  launch_kernel(reduce_statistics_kernel, 1, args.stream, args, slots);
  if (rows > 0 && args.dlogits != nullptr && args.dlogits_type == DART_F32)
    launch_kernel(gradient_kernel<T, float>, rows, args.stream, args, slots);
  if (rows > 0 && args.dlogits != nullptr && args.dlogits_type == DART_BF16)
    launch_kernel(gradient_kernel<T, __nv_bfloat16>, rows, args.stream, args, slots);
  DART_CUDA(cudaGetLastError());
  return DART_OK;
}

template <typename T>
__global__ void logp_entropy_kernel(dart_logp_entropy_args args) {
  const int64_t row = blockIdx.x;
  const T *logits = (const T *)args.logits + row * args.logits_stride;
  const RowStatistics statistics = row_statistics(logits, args.vocabulary, args.target[row], (float)(1.0 / args.temperature));
  if (threadIdx.x != 0) return;
  args.entropy[row] = statistics.entropy;
  args.logp[row] = args.target[row] < 0 ? 0.0f : target_logp(statistics, args.temperature);
}

template <typename T>
int launch(const dart_logp_entropy_args &args) {
  if (args.rows == 0) return DART_OK;
  launch_kernel(logp_entropy_kernel<T>, (unsigned)args.rows, args.stream, args);
  DART_CUDA(cudaGetLastError());
  return DART_OK;
}

}  // namespace
}  // namespace dart

extern "C" int64_t dart_policy_loss_workspace(int64_t rows) { return rows * (int64_t)sizeof(dart::Slot); }

extern "C" int dart_policy_loss(const dart_policy_loss_args *args) {
  if (const char *problem = dart::problem_with(*args)) return dart::fail(DART_BAD_ARGUMENT, problem);
  return args->logits_type == DART_BF16 ? dart::launch<__nv_bfloat16>(*args) : dart::launch<float>(*args);
}

extern "C" int dart_logp_entropy(const dart_logp_entropy_args *args) {
  if (const char *problem = dart::problem_with(*args)) return dart::fail(DART_BAD_ARGUMENT, problem);
  return args->logits_type == DART_BF16 ? dart::launch<__nv_bfloat16>(*args) : dart::launch<float>(*args);
}
