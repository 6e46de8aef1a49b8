import { recordLine } from '../stream/finite.ts';
import type { AnyRecord, Sample, Trajectory } from '../stream/records.ts';
import type { ByteBuffer } from './byte-buffer.ts';
import { lineOf, locateSteps, type Span } from './raw.ts';

/** Where a sample's step comes from. */
export interface SampleSource {
  trajectory: Trajectory;
  /** Index in the trajectory's list of steps. */
  position: number;
}

/** What the lines of all samples of one trajectory are made of. */
interface Parts {
  line: Uint8Array;
  /** Where each step stands in the line. */
  steps: Span[];
  /** All replies as JSON strings, each followed by a comma. */
  replies: Buffer;
  /** Where the reply of each step begins in `replies`; one more for the end. */
  starts: number[];
}

const sources = new WeakMap<AnyRecord, SampleSource>();
const parts = new WeakMap<Trajectory, Parts | null>();

/** Notes that the `step` of a sample is the untouched step of this trajectory. */
export function noteSource(sample: Sample, source: SampleSource): void {
  sources.set(sample, source);
}

/**
 * Appends the line of a sample, with its newline, put together from the bytes of the line that its trajectory came in.
 * @returns false, and nothing appended, where that is not possible; then the sample is written like any other record.
 *   The two differ in nothing but the spelling of numbers and white space within the step.
 */
export function appendSample(sample: AnyRecord, to: ByteBuffer): boolean {
  const source = sources.get(sample);
  const made = source && partsOf(source.trajectory);
  if (!source || !made) return false;
  const { step: _, history, screenshots, ...head } = sample as Sample;
  const step = made.steps[source.position]!;
  const pictures = screenshots === undefined ? '' : `,"screenshots":${JSON.stringify(screenshots)}`;
  to.text(`${recordLine(head).slice(0, -1)},"history":[`);
  // Without the comma after the last one.
  to.copy(made.replies, made.starts[source.position - history.length]!, made.starts[source.position]! - 1);
  to.text(`]${pictures},"step":`);
  to.copy(made.line, step.start, step.end);
  to.text('}\n');
  return true;
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
  const steps = line && locateSteps(line);
  if (!steps || steps.length !== trajectory.steps.length) return null;
  const starts = [0];
  const replies = trajectory.steps.map((step) => {
    const reply = Buffer.from(`${JSON.stringify(step.response.text)},`);
    starts.push(starts.at(-1)! + reply.length);
    return reply;
  });
  return { line, steps, replies: Buffer.concat(replies), starts };
}
