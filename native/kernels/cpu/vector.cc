#include "vector.h"

#include <cmath>
#include <cstring>

/* One clone for each vector width; the loader of the C library picks the widest that the machine has. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define DART_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define DART_CLONES
#endif

namespace dart {
namespace {

/* Below this exp is taken as 0: smaller results would be subnormal. */
constexpr float kExpFloor = -87.0f;

/*
 * exp(x) for x <= 88, within 2 ulp: x = n ln 2 + r, |r| <= ln 2 / 2, a polynomial of degree 6 for e^r (Cephes
 * coefficients), n added to the exponent bits. Branch-free, so that it vectorises; NaN stays NaN, x < kExpFloor gives 0.
 */
inline float exponential(float x) {
  constexpr float kLog2E = 1.44269504f, kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f, kRound = 12582912.0f;
  const float clamped = x < kExpFloor ? kExpFloor : x;
  const float shifted = clamped * kLog2E + kRound;
  const float n = shifted - kRound;
  const float r = (clamped - n * kLn2High) - n * kLn2Low;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  uint32_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + 127u) << 23; /* the low bits of `shifted` hold n */
  float power;
  std::memcpy(&power, &bits, sizeof power);
  const float result = p * power;
  return x < kExpFloor ? 0.0f : result;
}

/* 0 instead of -inf, so that 0 * d is 0 where an entry has no mass. */
inline float bounded(float d) { return d < 2 * kExpFloor ? 2 * kExpFloor : d; }

}  // namespace

DART_CLONES float block_maximum(const float *x, int n) {
  float lane[kLanes];
  for (int k = 0; k < kLanes; k++) lane[k] = -INFINITY;
  for (int i = 0; i < n; i += kLanes)
    for (int k = 0; k < kLanes; k++) lane[k] = x[i + k] > lane[k] ? x[i + k] : lane[k];
  float greatest = lane[0];
  for (int k = 1; k < kLanes; k++) greatest = lane[k] > greatest ? lane[k] : greatest;
  return greatest;
}

DART_CLONES void block_sums(const float *x, int n, float maximum, float inverse_temperature, double *sum, double *weighted) {
  float plain[kLanes] = {0}, times[kLanes] = {0};
  for (int i = 0; i < n; i += kLanes)
    for (int k = 0; k < kLanes; k++) {
      const float d = bounded((x[i + k] - maximum) * inverse_temperature);
      const float e = exponential(d);
      plain[k] += e;
      times[k] += e * d;
    }
  for (int k = 0; k < kLanes; k++) {
    *sum += plain[k];
    *weighted += times[k];
  }
}

DART_CLONES void block_gradient(float *x, int n, const GradientRow &row) {
  for (int i = 0; i < n; i++) {
    const float d = bounded((x[i] - row.maximum) * row.inverse_temperature);
    const float p = exponential(d) * row.inverse_sum;
    x[i] = 0.0f - p * (row.a + row.b * (d - row.log_sum + row.entropy)); /* 0 - 0 is 0, not -0 */
  }
}

DART_CLONES void block_from_bf16(const uint16_t *from, float *to, int n) {
  for (int i = 0; i < n; i++) {
    const uint32_t bits = static_cast<uint32_t>(from[i]) << 16;
    std::memcpy(to + i, &bits, sizeof bits);
  }
}

DART_CLONES void block_to_bf16(const float *from, uint16_t *to, int n) {
  for (int i = 0; i < n; i++) {
    uint32_t bits;
    std::memcpy(&bits, from + i, sizeof bits);
    const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const uint32_t quiet = (bits >> 16) | 0x40u;
    to[i] = static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
  }
}

DART_CLONES double block_sum_of_squares(const float *x, int64_t n) {
  double lane[kLanes] = {0};
  const int64_t whole = n - n % kLanes;
  for (int64_t i = 0; i < whole; i += kLanes)
    for (int k = 0; k < kLanes; k++) lane[k] += static_cast<double>(x[i + k]) * x[i + k];
  for (int64_t i = whole; i < n; i++) lane[i - whole] += static_cast<double>(x[i]) * x[i];
  double sum = 0;
  for (int k = 0; k < kLanes; k++) sum += lane[k];
  return sum;
}

DART_CLONES void block_adamw(float *parameter, const float *gradient, float *first, float *second, int64_t n, const AdamwStep &step) {
  for (int64_t i = 0; i < n; i++) {
    float p = parameter[i], m = first[i], v = second[i];
    adamw_update(p, gradient[i], m, v, step);
    parameter[i] = p;
    first[i] = m;
    second[i] = v;
  }
}

}  // namespace dart
