/*
 * The inner loops, once for each set of instructions. scalar.cc is the readable reference; avx2.cc, avx512.cc and
 * neon.cc compile one body (vector_*.h) over 16 lanes each; AVX2 and AVX-512 give the same bits.
 */
#ifndef DART_CPU_INSTRUCTIONS_H
#define DART_CPU_INSTRUCTIONS_H

#include "../adamw_math.h"

namespace dart {

/* One row of logits. */
struct Row {
  const void *logits; /* [vocabulary], type */
  int64_t vocabulary;
  int32_t type;
  int32_t target; /* < 0: none */
  double temperature;
  const void *next; /* the row that comes after, to be fetched meanwhile, or NULL */
};

struct RowSums {
  RowStatistics statistics;
  double sum; /* of exp((logit - maximum) / T) */
};

/*
 * The exponentials of a row, kept for its gradient so that each is taken once. They are relative to the greatest logit
 * up to the end of their block of kKeptBlock, which `references` holds.
 */
struct Kept {
  float *exponentials; /* [vocabulary]; may be the row itself when that is f32. NULL: keep nothing */
  float *references;   /* [blocks_of(vocabulary)] */
};

constexpr int64_t kKeptBlock = 4096;
inline int64_t blocks_of(int64_t vocabulary) { return (vocabulary + kKeptBlock - 1) / kKeptBlock; }

/* Where a row's gradient goes and what it is made from: d_logp and d_entropy are dL/dlogp and dL/dH times the scale. */
struct RowGradient {
  void *dlogits; /* [vocabulary], type; may be the row of logits */
  int32_t type;
  bool stream; /* too much to stay in a cache: write around it */
  double d_logp;
  double d_entropy;
};

/* A piece of dart_adamw_args. */
struct AdamwSlice {
  const dart_adamw_args *args;
  int64_t begin, end;
};

struct Instructions {
  const char *name;  /* as dart_set_instructions knows it */
  const char *title; /* for people */
  bool (*available)();
  RowSums (*row_sums)(const Row &row, const Kept &kept);
  /* From the logits again. dlogits_j = [g (delta_jy - p_j) - h p_j (ln p_j + H)] / T, g = d_logp, h = d_entropy. */
  void (*gradient)(const Row &row, const RowSums &sums, const RowGradient &gradient);
  /* The same where d_entropy is 0, from the exponentials that row_sums kept. NULL: this table keeps none. */
  void (*gradient_from_kept)(const Row &row, const RowSums &sums, const RowGradient &gradient, const Kept &kept);
  double (*sum_of_squares)(const void *values, int32_t type, int64_t begin, int64_t end);
  void (*adamw)(const AdamwSlice &slice, const AdamwStep &step);
};

extern const Instructions kScalar;
#if defined(__x86_64__)
extern const Instructions kAvx2, kAvx512;
#endif
#if defined(__aarch64__)
extern const Instructions kNeon;
#endif

/* The table that this process uses now. */
const Instructions &instructions();

/* The target's own entry, whose 1 - p would lose its digits in f32: g (1 - p) - h p (ln p + H), over T. */
inline double target_gradient(const Row &row, const RowSums &sums, const RowGradient &gradient) {
  const double logp = log_probability(sums.statistics, row.temperature);
  const double entropy_part = gradient.d_entropy * std::exp(logp) * (logp + sums.statistics.entropy);
  return (0.0 - gradient.d_logp * std::expm1(logp) - (gradient.d_entropy == 0 ? 0 : entropy_part)) / row.temperature;
}

/* What a row's sums say; a row without any mass has log_sum -inf and entropy 0. */
inline RowSums finish_sums(float maximum, float target, double sum, double weighted) {
  const double log_sum = std::log(sum);
  const double entropy = sum == 0 ? 0 : log_sum - weighted / sum;
  return {{maximum, static_cast<float>(log_sum), target, static_cast<float>(entropy)}, sum};
}

}  // namespace dart

#endif
