import type { Kernel, Plain } from './plain.testing.ts';
import { at, axis, broadcast, fill, ints, plain, plainOf, sizeOf, transposed } from './plain.testing.ts';
import { intAttribute, intsAttribute } from './types.ts';

/** Reference kernels of operators that only move values. */

const reshape: Kernel = ([x, target]) => {
  const asked = ints(target).map((extent, i) => (extent === 0 ? x!.shape[i]! : extent));
  const rest = sizeOf(asked.filter((extent) => extent !== -1));
  return [
    plain(
      asked.map((extent) => (extent === -1 ? x!.data.length / rest : extent)),
      x!.data,
    ),
  ];
};

function cut(x: Plain, along: number, from: number, count: number, step = 1): Plain {
  const shape = x.shape.map((extent, i) => (i === along ? count : extent));
  return fill(shape, (index) =>
    at(
      { ...x, shape: x.shape },
      index.map((p, i) => (i === along ? from + p * step : p)),
    ),
  );
}

const slice: Kernel = ([x, starts, ends, axes, steps]) => {
  const along = axes ? ints(axes) : ints(starts).map((_, i) => i);
  return [
    along.reduce((result, a, i) => {
      const ax = axis(a, result.shape.length);
      const extent = result.shape[ax]!;
      const step = steps ? ints(steps)[i]! : 1;
      const bound = (value: number, low: number, high: number) =>
        Math.max(low, Math.min(high, value < 0 ? value + extent : value));
      const from = bound(ints(starts)[i]!, 0, step < 0 ? extent - 1 : extent);
      const to = step < 0 && ints(ends)[i]! < -extent ? -1 : bound(ints(ends)[i]!, -1, extent);
      return cut(result, ax, from, Math.max(0, Math.ceil((to - from) / step)), step);
    }, x!),
  ];
};

const split: Kernel = ([x, sizes], node) => {
  const along = axis(intAttribute(node, 'axis', 0), x!.shape.length);
  let from = 0;
  return ints(sizes).map((size) => {
    const part = cut(x!, along, from, size);
    from += size;
    return part;
  });
};

const pad: Kernel = ([x, widths]) => {
  const w = ints(widths);
  const rank = x!.shape.length;
  const shape = x!.shape.map((extent, i) => extent + w[i]! + w[i + rank]!);
  return [
    fill(shape, (index) => {
      const from = index.map((p, i) => p - w[i]!);
      return from.some((p, i) => p < 0 || p >= x!.shape[i]!) ? 0 : at(x!, from);
    }),
  ];
};

const concat: Kernel = (parts, node) => {
  const along = axis(intAttribute(node, 'axis', 0), parts[0]!.shape.length);
  const shape = parts[0]!.shape.map((extent, i) =>
    i === along ? parts.reduce((s, p) => s + p!.shape[along]!, 0) : extent,
  );
  return [
    fill(shape, (index) => {
      let rest = index[along]!;
      const part = parts.find((candidate) => {
        if (rest < candidate!.shape[along]!) return true;
        rest -= candidate!.shape[along]!;
        return false;
      });
      return at(
        part!,
        index.map((p, i) => (i === along ? rest : p)),
      );
    }),
  ];
};

const gather: Kernel = ([table, indices], node) => {
  const along = axis(intAttribute(node, 'axis', 0), table!.shape.length);
  const taken = indices!.shape.length;
  const shape = [...table!.shape.slice(0, along), ...indices!.shape, ...table!.shape.slice(along + 1)];
  return [
    fill(shape, (index) => {
      const row = at(indices!, index.slice(along, along + taken));
      return at(table!, [...index.slice(0, along), row, ...index.slice(along + taken)]);
    }),
  ];
};

const scatterAdd: Kernel = ([table, indices, updates]) => {
  const result = plain(table!.shape, table!.data);
  const depth = indices!.shape.at(-1)!;
  const inner = sizeOf(table!.shape.slice(depth));
  const rows = indices!.data.length / depth;
  for (let row = 0; row < rows; row++) {
    const place = Array.from({ length: depth }, (_, i) => indices!.data[row * depth + i]!);
    const start = place.reduce((sum, p, i) => sum * table!.shape[i]! + p, 0) * inner;
    for (let i = 0; i < inner; i++) result.data[start + i]! += updates!.data[row * inner + i]!;
  }
  return [result];
};

const expand: Kernel = ([x, target]) => {
  const shape = broadcast([x!.shape, ints(target)]);
  return [fill(shape, (index) => at(x!, index))];
};

const squeeze: Kernel = ([x, axes]) => {
  const gone = ints(axes).map((a) => axis(a, x!.shape.length));
  return [
    plain(
      x!.shape.filter((_, i) => !gone.includes(i)),
      x!.data,
    ),
  ];
};

const unsqueeze: Kernel = ([x, axes]) => {
  const rank = x!.shape.length + axes!.data.length;
  const added = ints(axes).map((a) => axis(a, rank));
  const rest = [...x!.shape];
  return [
    plain(
      Array.from({ length: rank }, (_, i) => (added.includes(i) ? 1 : rest.shift()!)),
      x!.data,
    ),
  ];
};

const shapeKernel: Kernel = ([x], node) => {
  const dims = x!.shape.slice(intAttribute(node, 'start', 0), intAttribute(node, 'end', x!.shape.length));
  return [plain([dims.length], dims)];
};

const constantOfShape: Kernel = ([dims], node) => {
  const value = node.attributes.value;
  const filler = value && 'tensor' in value ? Number(value.tensor.data[0]) : 0;
  return [fill(ints(dims), () => filler)];
};

const constant: Kernel = (_, node) => {
  const value = node.attributes.value;
  return value && 'tensor' in value ? [plainOf(value.tensor)] : [];
};

export const LAYOUT_KERNELS: Record<string, Kernel> = {
  Identity: ([x]) => [x!],
  Dropout: ([x]) => [x!],
  Cast: ([x]) => [x!],
  Reshape: reshape,
  Flatten: ([x], node) => {
    const along = axis(intAttribute(node, 'axis', 1), x!.shape.length);
    return [plain([sizeOf(x!.shape.slice(0, along)), sizeOf(x!.shape.slice(along))], x!.data)];
  },
  Squeeze: squeeze,
  Unsqueeze: unsqueeze,
  Transpose: ([x], node) => [
    transposed(x!, intsAttribute(node, 'perm') ?? x!.shape.map((_, i) => x!.shape.length - 1 - i)),
  ],
  Concat: concat,
  Split: split,
  Slice: slice,
  Pad: pad,
  Expand: expand,
  Gather: gather,
  ScatterND: scatterAdd,
  Shape: shapeKernel,
  ConstantOfShape: constantOfShape,
  Constant: constant,
};
