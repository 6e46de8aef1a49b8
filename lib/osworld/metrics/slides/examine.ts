import type { MetricInput } from '../../kinds.ts';

/** What `compare_pptx_files` looks at, and whether it does where the task does not say. */
const DEFAULTS = {
  number_of_slides: true,
  shape: true,
  text: true,
  indent: true,
  font_name: true,
  font_size: true,
  font_bold: true,
  font_italic: true,
  color_rgb: true,
  font_underline: true,
  strike_through: true,
  alignment: true,
  run_count: true,
  bullets: true,
  background_color: true,
  note: true,
  title_bottom_position: false,
  table_bottom_position: false,
  right_position: false,
  top_position: false,
  shape_for_shift_size: false,
  image_size: false,
  modify_height: false,
};

/** Every `examine_…` option, how close lengths must be, and whether OSWorld's mistakes are repaired. */
export type Examine = Record<keyof typeof DEFAULTS, boolean> & { tolerance: number; isStrict: boolean };

/** The options of a task. Options of other names mean nothing, as in OSWorld. */
export function examineOf({ options, fidelity }: MetricInput): Examine {
  const flags = Object.entries(DEFAULTS).map(([name, fallback]) => {
    const value = options.values[`examine_${name}`];
    return [name, value === undefined ? fallback : isTruthy(value)];
  });
  return {
    ...(Object.fromEntries(flags) as Record<keyof typeof DEFAULTS, boolean>),
    tolerance: options.number('approximately_tolerance', 0.005),
    isStrict: fidelity === 'strict',
  };
}

/** Python's `bool()` of what JSON can hold. */
function isTruthy(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
}
