import { axisOf } from './dims.ts';
import type { ConstantTensor, Node } from './types.ts';

/** A tensor of the reference implementation: plain float64, whatever the ONNX type (bool as 0 and 1). */
export interface Plain {
  shape: number[];
  data: Float64Array;
}

export type Kernel = (inputs: (Plain | null)[], node: Node) => Plain[];

export function plain(shape: number[], data: ArrayLike<number>): Plain {
  return { shape, data: Float64Array.from(data) };
}

export function plainOf(tensor: ConstantTensor): Plain {
  return plain([...tensor.shape], Array.from(tensor.data as ArrayLike<number | bigint>, Number));
}

export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, extent) => product * extent, 1);
}

/** Calls `visit` with every index of a shape in row-major order. */
export function eachIndex(shape: readonly number[], visit: (index: number[], flat: number) => void): void {
  const count = sizeOf(shape);
  for (let flat = 0; flat < count; flat++) {
    let rest = flat;
    const index = shape.map(() => 0);
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      index[axis] = rest % shape[axis]!;
      rest = Math.floor(rest / shape[axis]!);
    }
    visit(index, flat);
  }
}

/** The element at an index of a broadcast shape. */
export function at(x: Plain, index: readonly number[]): number {
  const lead = index.length - x.shape.length;
  const flat = x.shape.reduce((sum, extent, axis) => sum * extent + (extent === 1 ? 0 : index[axis + lead]!), 0);
  return x.data[flat]!;
}

export function fill(shape: number[], value: (index: number[]) => number): Plain {
  const data = new Float64Array(sizeOf(shape));
  eachIndex(shape, (index, flat) => {
    data[flat] = value(index);
  });
  return { shape, data };
}

export function ints(x: Plain | null | undefined): number[] {
  return x ? Array.from(x.data) : [];
}

export const axis = axisOf;

export function broadcast(shapes: number[][]): number[] {
  const rank = Math.max(...shapes.map((shape) => shape.length));
  return Array.from({ length: rank }, (_, i) =>
    Math.max(...shapes.map((shape) => shape[i - rank + shape.length] ?? 1)),
  );
}

export function transposed(x: Plain, perm: number[]): Plain {
  return fill(
    perm.map((from) => x.shape[from]!),
    (index) =>
      at(
        x,
        perm.map((_, to) => index[perm.indexOf(to)]!),
      ),
  );
}
