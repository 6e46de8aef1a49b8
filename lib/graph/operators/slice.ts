import { axisOf } from '../dims.ts';
import { add, concat, pad, shape, slice, sub } from '../functions.ts';
import type { Dim } from '../types.ts';
import { int64, intsAttribute } from '../types.ts';
import type { Value } from '../value.ts';
import type { GradientContext, InferContext, Inferred } from './operator.ts';
import { inputOf } from './operator.ts';

/** Axes given as attribute (older opsets) or as second input. */
export function axesOf(context: InferContext): number[] | null {
  const attribute = intsAttribute(context.node, 'axes');
  if (attribute) return attribute;
  const contents = context.inputs[1] ? context.contents(1) : null;
  return contents?.every((axis) => typeof axis === 'number') ? contents : null;
}

interface Cut {
  axis: number;
  start: Dim;
  end: Dim;
  step: number;
}

/** Null where start, end, axes or steps are not known before running. */
function cutsOf(
  contents: (index: number) => Dim[] | null,
  given: (index: number) => boolean,
  rank: number,
): Cut[] | null {
  const [starts, ends] = [contents(1), contents(2)];
  if (!starts || !ends) return null;
  const axes = given(3) ? contents(3) : starts.map((_, i) => i);
  const steps = given(4) ? contents(4) : starts.map(() => 1);
  if (!axes || !steps) return null;
  return starts.map((start, i) => ({
    axis: axisOf(Number(axes[i]), rank),
    start,
    end: ends[i]!,
    step: Number(steps[i]),
  }));
}

/** Where a slice of an axis of known extent begins and how many elements it takes. */
function span(cut: Cut, extent: number): { from: number; count: number } | null {
  if (typeof cut.start !== 'number' || typeof cut.end !== 'number') return null;
  const clamp = (value: number, low: number, high: number) => Math.min(Math.max(value, low), high);
  const wrap = (value: number) => (value < 0 ? value + extent : value);
  const down = cut.step < 0;
  const from = clamp(wrap(cut.start), 0, down ? extent - 1 : extent);
  const to = clamp(wrap(cut.end), down ? -1 : 0, extent);
  return { from, count: Math.max(0, Math.ceil((to - from) / cut.step)) };
}

function cutExtent(cut: Cut, extent: Dim, name: string): Dim {
  if (typeof extent === 'number') return span(cut, extent)?.count ?? name;
  const whole = cut.start === 0 && cut.step === 1 && typeof cut.end === 'number' && cut.end >= 2 ** 31 - 1;
  if (whole || (cut.start === 0 && cut.step === 1 && cut.end === extent)) return extent;
  // [:n] of an axis at least that long, and [-n:], are n.
  if (cut.start === 0 && cut.step === 1 && typeof cut.end === 'number' && cut.end > 0) return cut.end;
  if (typeof cut.start === 'number' && cut.start < 0 && Number(cut.end) >= 2 ** 31 - 1) return -cut.start;
  return name;
}

/** Shape and, for integer vectors, contents of a Slice; a fresh name for an extent that cannot be told. */
export function inferSlice(context: InferContext): Inferred[] {
  const x = inputOf(context, 0);
  if (!x.shape) return [{ dtype: x.dtype, shape: null }];
  const rank = x.shape.length;
  const cuts = cutsOf(context.contents, (i) => context.inputs[i] !== undefined && context.inputs[i] !== null, rank);
  const name = (axis: number) => `${context.node.outputs[0]}[${axis}]`;
  if (!cuts) return [{ dtype: x.dtype, shape: x.shape.map((_, axis) => name(axis)) }];
  const dims = x.shape.map((extent, axis) => {
    const cut = cuts.find((candidate) => candidate.axis === axis);
    return cut ? cutExtent(cut, extent, name(axis)) : extent;
  });
  const [cut] = cuts;
  const values = rank === 1 && cut?.step === 1 ? context.contents(0) : null;
  const range = values && cut ? span(cut, values.length) : null;
  const contents = values && range ? values.slice(range.from, range.from + range.count) : null;
  return [{ dtype: x.dtype, shape: dims, contents }];
}

/**
 * Zeros where the slice left something out. Widths are constants where extents are known, else computed at run time:
 * the start, and what start and result leave of the input. Steps other than 1 have no gradient here.
 */
export function sliceGradient(context: GradientContext): (Value | null)[] {
  const x = context.inputShape(0);
  const rank = x.length;
  const given = (i: number) => Boolean(context.node.inputs[i]);
  const starts = context.contents(1);
  const axes = given(3) ? context.contents(3) : (starts?.map((_, i) => i) ?? null);
  const steps = given(4) ? context.contents(4) : [];
  if (
    !starts ||
    !axes ||
    !steps ||
    starts.some((start) => typeof start !== 'number') ||
    steps.some((step) => step !== 1)
  ) {
    throw new RangeError('only constant starts and axes with step 1 have a gradient here');
  }
  const ends = context.contents(2);
  const cuts = axes.map(
    (axis, i): Cut => ({ axis: axisOf(Number(axis), rank), start: starts[i]!, end: ends?.[i] ?? '?', step: 1 }),
  );
  const grad = constantWidths(context.grad(), x, cuts) ?? runTimeWidths(context, cuts);
  return [{ ...grad, shape: x }, ...context.node.inputs.slice(1).map(() => null)];
}

function constantWidths(grad: Value, x: readonly Dim[], cuts: Cut[]): Value | null {
  const rank = x.length;
  const widths = new Array<number>(2 * rank).fill(0);
  for (const cut of cuts) {
    const extent = x[cut.axis]!;
    const range = typeof extent === 'number' ? span(cut, extent) : null;
    if (!range || typeof extent !== 'number') return null;
    widths[cut.axis] = range.from;
    widths[cut.axis + rank] = extent - range.from - range.count;
  }
  return widths.every((width) => width === 0) ? grad : pad(grad, widths.slice(0, rank), widths.slice(rank));
}

function runTimeWidths(context: GradientContext, cuts: Cut[]): Value {
  const grad = context.grad();
  const b = grad.builder;
  const at = (dims: Value, axis: number) => slice(dims, [{ axis: 0, start: axis, end: axis + 1 }]);
  const zero = b.constant(int64([0]));
  const before = context.inputShape(0).map(() => zero);
  const after = [...before];
  for (const { axis, start } of cuts) {
    const extent = at(context.inputDims(0), axis);
    const first = b.constant(int64([Number(start)]));
    before[axis] = Number(start) < 0 ? add(extent, first) : first;
    after[axis] = sub(sub(extent, at(shape(grad), axis)), before[axis]);
  }
  return b.emit('Pad', [grad, concat([...before, ...after], 0)])[0]!;
}
