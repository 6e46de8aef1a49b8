import { recordLine } from '../stream/finite.ts';
import type { AnyRecord, Sample, Trajectory } from '../stream/records.ts';
import { lineOf, locateSteps } from './raw.ts';

/** Where a sample's step comes from. */
export interface SampleSource {
  trajectory: Trajectory;
  /** Index in the trajectory's list of steps. */
  position: number;
}

/** What the lines of all samples of one trajectory are made of. */
interface Parts {
  /** The step records as they came. */
  steps: Uint8Array[];
  /** All replies as JSON strings, each followed by a comma. */
  replies: Uint8Array;
  /** Where the reply of each step begins in `replies`; one more for the end. */
  starts: number[];
}

const sources = new WeakMap<AnyRecord, SampleSource>();
const parts = new WeakMap<Trajectory, Parts | null>();

/** Notes that the `step` of a sample is the untouched step of this trajectory. */
export function noteSource(sample: Sample, source: SampleSource): void {
  sources.set(sample, source);
}

const HISTORY = Buffer.from(',"history":[');
const STEP = Buffer.from(',"step":');
const END = Buffer.from('}\n');

/**
 * The line of a sample, with its newline, in pieces: views into the line that its trajectory came in, and what lies
 * between them. Null
 * where that is not possible; then the sample is written like any other record, and the two differ in nothing but the
 * spelling of numbers and white space within the step.
 */
export function samplePieces(sample: AnyRecord): Uint8Array[] | null {
  const source = sources.get(sample);
  const made = source && partsOf(source.trajectory);
  if (!source || !made) return null;
  const { step: _, history, screenshots, ...head } = sample as Sample;
  const first = made.starts[source.position - history.length]!;
  // Without the comma after the last one.
  const last = Math.max(first, made.starts[source.position]! - 1);
  const pictures = screenshots === undefined ? '' : `,"screenshots":${JSON.stringify(screenshots)}`;
  return [
    Buffer.from(recordLine(head).slice(0, -1)),
    HISTORY,
    made.replies.subarray(first, last),
    Buffer.from(`]${pictures}`),
    STEP,
    made.steps[source.position]!,
    END,
  ];
}

function partsOf(trajectory: Trajectory): Parts | null {
  let made = parts.get(trajectory);
  if (made === undefined) {
    made = makeParts(trajectory);
    parts.set(trajectory, made);
  }
  return made;
}

function makeParts(trajectory: Trajectory): Parts | null {
  const line = lineOf(trajectory);
  const spans = line && locateSteps(line);
  if (!spans || spans.length !== trajectory.steps.length) return null;
  const starts = [0];
  const replies = trajectory.steps.map((step) => Buffer.from(`${JSON.stringify(step.response.text)},`));
  for (const reply of replies) starts.push(starts.at(-1)! + reply.length);
  return {
    steps: spans.map(({ start, end }) => line.subarray(start, end)),
    replies: Buffer.concat(replies),
    starts,
  };
}
