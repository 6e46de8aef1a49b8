/**
 * Sampling temperatures above 0, here as in the kernels (native/kernels/validate.h): logits are divided by them, and the
 * quotients must stay numbers.
 */
export const LEAST_TEMPERATURE = 1e-6;
export const GREATEST_TEMPERATURE = 1e6;
