import type { Sampling } from '../stream/records.ts';

/**
 * Settings of a sampler whose log-probabilities are not those of the policy. Cutting the distribution (top-p, top-k,
 * min-p) renormalises what is left: the importance ratio is then off by exactly the mass that was kept
 * (reference: verl#6240, trl#7269). Penalties bend it. Temperature is none of them: the trainer recomputes at it.
 * @returns `top_p=0.9` and the like; empty for plain sampling.
 */
export function samplerBiases(sampling: Sampling): string[] {
  const neutral: [string, (value: number) => boolean][] = [
    ['top_p', (value) => value >= 1],
    // Servers write −1 or 0 for "all".
    ['top_k', (value) => value <= 0],
    ['min_p', (value) => value <= 0],
    ['frequency_penalty', (value) => value === 0],
    ['presence_penalty', (value) => value === 0],
    ['repetition_penalty', (value) => value === 1],
  ];
  return neutral.flatMap(([name, isNeutral]) => {
    const value = sampling[name];
    return typeof value === 'number' && !isNeutral(value) ? [`${name}=${value}`] : [];
  });
}
