/*
 * Loops over a block of a row, written so that the compiler vectorises them and so that they give the same bits at
 * every vector width: sums run in kLanes fixed partial sums, exp is our own polynomial, contraction to FMA is off.
 * A block is kBlock floats in a local buffer (aligned, never aliased), padded with -inf, which has no mass.
 */
#ifndef DART_CPU_VECTOR_H
#define DART_CPU_VECTOR_H

#include <cstdint>

#include "../adamw_math.h"

namespace dart {

constexpr int kLanes = 16;
constexpr int kBlock = 1024;

/* Greatest of n floats (n a multiple of kLanes). NaN is passed over: it shows in the sums. */
float block_maximum(const float *x, int n);

/* Adds sum e and sum e * d over the block, d = (x - maximum) * inverse_temperature, e = exp(d), to the two doubles. */
void block_sums(const float *x, int n, float maximum, float inverse_temperature, double *sum, double *weighted);

/* What a row's gradient needs: dlogits_j = -p_j * (a + b * (d_j - log_sum + entropy)), p_j = exp(d_j) * inverse_sum. */
struct GradientRow {
  float maximum;
  float inverse_temperature;
  float inverse_sum;
  float log_sum;
  float entropy;
  float a; /* scale * dL/dlogp / T */
  float b; /* scale * dL/dH / T */
};

/* Overwrites logits by gradients. */
void block_gradient(float *x, int n, const GradientRow &row);

void block_from_bf16(const uint16_t *from, float *to, int n);
/* Rounds to nearest even; NaN stays NaN. */
void block_to_bf16(const float *from, uint16_t *to, int n);

/* Sum of squares in double. */
double block_sum_of_squares(const float *x, int64_t n);

void block_adamw(float *parameter, const float *gradient, float *first, float *second, int64_t n, const AdamwStep &step);

}  // namespace dart

#endif
