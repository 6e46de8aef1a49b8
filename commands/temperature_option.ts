import type { OptionSpec } from '../lib/cli/spec.ts';
import { GREATEST_TEMPERATURE, LEAST_TEMPERATURE } from '../lib/stream/temperature.ts';

/** How replies are drawn, the same for every command that plays a policy. */
export const TEMPERATURE_OPTION: OptionSpec = {
  name: 'temperature',
  type: 'number',
  value: 'T',
  default: 1,
  min: LEAST_TEMPERATURE,
  max: GREATEST_TEMPERATURE,
  orZero: true,
  describe: 'Sampling temperature; 0 takes the likeliest token',
};
