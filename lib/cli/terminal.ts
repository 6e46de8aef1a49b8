import type { Writable } from 'node:stream';
import type { Io } from './spec.ts';

/** True where colours are wanted: a terminal that is not a dumb one, and no NO_COLOR (https://no-color.org). */
export function wantsColour(stream: Writable, env: Io['env']): boolean {
  return (stream as NodeJS.WriteStream).isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
}

/** Columns of a terminal; `otherwise` for what is none. */
export function columnsOf(stream: Writable, otherwise: number): number {
  const { isTTY, columns } = stream as NodeJS.WriteStream;
  return isTTY === true && columns > 0 ? columns : otherwise;
}
