/**
 * Sampling temperatures above 0, here as in the kernels (native/kernels/validate.h): logits are divided by them, and the
 * quotients must stay numbers.
 */
export const LEAST_TEMPERATURE = 1e-6;
export const GREATEST_TEMPERATURE = 1e6;

/** Those that are taken, for people; 0 takes the likeliest token. */
export const TEMPERATURES = `0, or from ${LEAST_TEMPERATURE} to ${GREATEST_TEMPERATURE}`;
