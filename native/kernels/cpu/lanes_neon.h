/* Sixteen floats in four NEON registers; what each function does: lanes_avx512.h. */
#ifndef DART_CPU_LANES_NEON_H
#define DART_CPU_LANES_NEON_H

#include <arm_neon.h>

#include "types.h"

#define DART_LANES inline __attribute__((always_inline))

namespace dart {
namespace {

struct Lanes {
  float32x4_t v[4];
};
struct DoubleLanes {
  float64x2_t v[8];
};

/* The same operation on each register. */
template <typename Operation>
DART_LANES Lanes each(Operation operation) {
  return {{operation(0), operation(1), operation(2), operation(3)}};
}

DART_LANES Lanes all(float x) {
  return each([&](int k) { return (void)k, vdupq_n_f32(x); });
}
DART_LANES Lanes add(const Lanes &a, const Lanes &b) {
  return each([&](int k) { return vaddq_f32(a.v[k], b.v[k]); });
}
DART_LANES Lanes subtract(const Lanes &a, const Lanes &b) {
  return each([&](int k) { return vsubq_f32(a.v[k], b.v[k]); });
}
DART_LANES Lanes multiply(const Lanes &a, const Lanes &b) {
  return each([&](int k) { return vmulq_f32(a.v[k], b.v[k]); });
}
DART_LANES Lanes divide(const Lanes &a, const Lanes &b) {
  return each([&](int k) { return vdivq_f32(a.v[k], b.v[k]); });
}
DART_LANES Lanes square_root(const Lanes &a) {
  return each([&](int k) { return vsqrtq_f32(a.v[k]); });
}
DART_LANES Lanes multiply_add(const Lanes &a, const Lanes &b, const Lanes &c) {
  return each([&](int k) { return vfmaq_f32(c.v[k], a.v[k], b.v[k]); });
}
DART_LANES Lanes subtract_product(const Lanes &c, const Lanes &a, const Lanes &b) {
  return each([&](int k) { return vfmsq_f32(c.v[k], a.v[k], b.v[k]); });
}
DART_LANES Lanes greater(const Lanes &a, const Lanes &b) {
  return each([&](int k) { return vmaxnmq_f32(a.v[k], b.v[k]); });
}
DART_LANES Lanes at_least(const Lanes &x, const Lanes &floor) {
  return each([&](int k) { return vmaxq_f32(x.v[k], floor.v[k]); });
}
DART_LANES Lanes power_of_two(const Lanes &shifted) {
  return each([&](int k) {
    return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(vreinterpretq_s32_f32(shifted.v[k]), vdupq_n_s32(127)), 23));
  });
}

DART_LANES Lanes load(const float *from) {
  return each([&](int k) { return vld1q_f32(from + 4 * k); });
}
DART_LANES Lanes load(const Bf16 *from) {
  return each([&](int k) { return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(&from[4 * k].bits), 16)); });
}
DART_LANES Lanes load(const Half *from) {
  return each([&](int k) { return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(&from[4 * k].bits))); });
}

DART_LANES uint16x4_t to_bf16(float32x4_t x) {
  const uint32x4_t bits = vreinterpretq_u32_f32(x), high = vshrq_n_u32(bits, 16);
  const uint32x4_t odd = vandq_u32(high, vdupq_n_u32(1));
  const uint32x4_t rounded = vshrq_n_u32(vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7fff)), odd), 16);
  return vmovn_u32(vbslq_u32(vceqq_f32(x, x), rounded, vorrq_u32(high, vdupq_n_u32(0x40))));
}

DART_LANES void store(const Lanes &a, float *to) {
  for (int k = 0; k < 4; k++) vst1q_f32(to + 4 * k, a.v[k]);
}
DART_LANES void store(const Lanes &a, Bf16 *to) {
  for (int k = 0; k < 4; k++) vst1_u16(&to[4 * k].bits, to_bf16(a.v[k]));
}
DART_LANES void store(const Lanes &a, Half *to) {
  for (int k = 0; k < 4; k++) vst1_u16(&to[4 * k].bits, vreinterpret_u16_f16(vcvt_f16_f32(a.v[k])));
}
DART_LANES void store_around(const Lanes &a, float *to) { store(a, to); }
DART_LANES void settle() {}
DART_LANES void fetch(const void *address) { __builtin_prefetch(address, 0, 2); }

DART_LANES float sum_of(const Lanes &a) {
  const float32x4_t four = vaddq_f32(vaddq_f32(a.v[0], a.v[2]), vaddq_f32(a.v[1], a.v[3]));
  const float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
  return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
}
DART_LANES float greatest_of(const Lanes &a) {
  return vmaxnmvq_f32(vmaxnmq_f32(vmaxnmq_f32(a.v[0], a.v[1]), vmaxnmq_f32(a.v[2], a.v[3])));
}

DART_LANES DoubleLanes no_doubles() {
  DoubleLanes sums;
  for (int k = 0; k < 8; k++) sums.v[k] = vdupq_n_f64(0);
  return sums;
}
DART_LANES DoubleLanes add_squares(DoubleLanes sums, const Lanes &a) {
  for (int k = 0; k < 4; k++) {
    const float64x2_t low = vcvt_f64_f32(vget_low_f32(a.v[k])), high = vcvt_high_f64_f32(a.v[k]);
    sums.v[2 * k] = vfmaq_f64(sums.v[2 * k], low, low);
    sums.v[2 * k + 1] = vfmaq_f64(sums.v[2 * k + 1], high, high);
  }
  return sums;
}
DART_LANES void store(const DoubleLanes &sums, double *to) {
  for (int k = 0; k < 8; k++) vst1q_f64(to + 2 * k, sums.v[k]);
}

}  // namespace
}  // namespace dart

#endif
