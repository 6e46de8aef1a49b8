/** A number to four digits, for people; one so large that it would round to infinity stays as it is. */
export function fourDigits(value: number): number {
  const rounded = Number(value.toPrecision(4));
  return Number.isFinite(rounded) ? rounded : value;
}
