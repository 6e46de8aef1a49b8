/** A date with its time, a time of day, or a span; milliseconds since 1970 (UTC), since midnight, or long. */
export interface Moment {
  kind: 'datetime' | 'time' | 'timedelta';
  ms: number;
}

const DAY_MS = 86_400_000;
/** Serial number 0 of the 1900 system, counted as if 1900 had no 29 February, and of the 1904 system. */
const EPOCH_1900 = Date.UTC(1899, 11, 30);
const EPOCH_1904 = Date.UTC(1904, 0, 1);
const FIRST_DATE = new Date(0).setUTCFullYear(1, 0, 1);
const LAST_DATE = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Number format codes that need not be written down in a workbook, by id (ECMA-376 part 1, 18.8.30). */
export const BUILTIN_FORMATS: Record<number, string> = {
  0: 'General',
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  5: '"$"#,##0_);("$"#,##0)',
  6: '"$"#,##0_);[Red]("$"#,##0)',
  7: '"$"#,##0.00_);("$"#,##0.00)',
  8: '"$"#,##0.00_);[Red]("$"#,##0.00)',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  14: 'mm-dd-yy',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'm/d/yy h:mm',
  37: '#,##0_);(#,##0)',
  38: '#,##0_);[Red](#,##0)',
  39: '#,##0.00_);(#,##0.00)',
  40: '#,##0.00_);[Red](#,##0.00)',
  41: '_(* #,##0_);_(* \\(#,##0\\);_(* "-"_);_(@_)',
  42: '_("$"* #,##0_);_("$"* \\(#,##0\\);_("$"* "-"_);_(@_)',
  43: '_(* #,##0.00_);_(* \\(#,##0.00\\);_(* "-"??_);_(@_)',
  44: '_("$"* #,##0.00_)_("$"* \\(#,##0.00\\)_("$"* "-"??_)_(@_)',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mmss.0',
  48: '##0.0E+0',
  49: '@',
};

/** Whether a number format shows a date or time: letters of dates in its first part, quotes and brackets aside. */
export function isDateFormat(code: string | undefined): boolean {
  if (code === undefined) return false;
  const part = code.split(';')[0]!.replace(/".*?"|\[(?!hh?\]|mm?\]|ss?\])[^\]]*\]/g, '');
  return /(?<![_\\])[dmhysDMHYS]/.test(part);
}

/** Whether a number format shows a span: hours, minutes or seconds in brackets. */
export function isSpanFormat(code: string | undefined): boolean {
  return code !== undefined && /\[hh?\]|\[mm?\]|\[ss?\]/i.test(code.split(';')[0]!);
}

/** The date of a serial number, to the millisecond; null where it is no date of the years 1 to 9999. */
export function momentOf(serial: number, is1904: boolean, isSpan: boolean): Moment | null {
  if (isSpan) return { kind: 'timedelta', ms: Math.round(serial * DAY_MS) };
  const day = Math.floor(serial);
  const rest = roundHalfEven((serial - day) * 86_400 * 1000);
  if (serial >= 0 && serial < 1 && rest < DAY_MS) return { kind: 'time', ms: rest };
  // The 1900 system counts a 29 February 1900 that never was: its days before are one late.
  const shift = serial > 0 && serial < 60 && !is1904 ? 1 : 0;
  const ms = (is1904 ? EPOCH_1904 : EPOCH_1900) + (day + shift) * DAY_MS + rest;
  return ms >= FIRST_DATE && ms <= LAST_DATE ? { kind: 'datetime', ms } : null;
}

function roundHalfEven(value: number): number {
  const down = Math.floor(value);
  if (value - down !== 0.5) return Math.round(value);
  return down % 2 === 0 ? down : down + 1;
}

/** The date of ISO 8601 text in a cell of type `d`; null where it is none. */
export function momentOfIso(text: string): Moment | null {
  const time = /^T?(\d\d):(\d\d)(?::(\d\d(?:\.\d+)?))?Z?$/.exec(text);
  if (time !== null) {
    return { kind: 'time', ms: (Number(time[1]) * 60 + Number(time[2])) * 60_000 + Number(time[3] ?? 0) * 1000 };
  }
  const ms = Date.parse(/T/.test(text) && !/Z$/.test(text) ? `${text}Z` : text);
  return Number.isNaN(ms) ? null : { kind: 'datetime', ms };
}

/** A date as Python's `str` shows it: `2024-01-31 00:00:00`, `08:30:00`. */
export function showMoment({ kind, ms }: Moment): string {
  const iso = new Date(ms)
    .toISOString()
    .replace('T', ' ')
    .replace('Z', '')
    .replace(/\.000$/, '');
  return kind === 'datetime' ? iso : iso.slice(11);
}
