import type { KindOption } from './kind.ts';

/** Of every kind whose servers listen on loopback of this machine. */
export const FIRST_PORT: KindOption = {
  name: 'first-port',
  type: 'integer',
  value: 'PORT',
  default: 0,
  min: 0,
  max: 65_535,
  describe: "Port of the first desktop's server on loopback, the others follow; 0 takes any that are free",
};
