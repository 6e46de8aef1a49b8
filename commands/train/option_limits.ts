/**
 * The most that options take whose values are computed with, far beyond what is of use: what comes of them must stay
 * within float32, which ends at 3.4e38, and counts within what JavaScript can tell from its neighbours.
 */

/** Of what the loss, its gradient or the weights are multiplied with. */
export const WEIGHT = 1e6;
/** Of limits that values are held under: so large a one is as good as none. */
export const LARGEST = 1e30;
/** Of what is multiplied with other counts, or goes through 32 bits: 2^31 − 1. */
export const MANY = 2147483647;
/** Of times: thirty years. */
export const SECONDS = 1e9;
/** Below 1 as float32 as well, by which the moments of AdamW are divided. */
export const MOST_BETA = 0.9999999;
