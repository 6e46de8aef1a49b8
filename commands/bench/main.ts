import { printTable } from '../../lib/cli/table.ts';
import { DartError, messageOf } from '../../lib/errors.ts';
import type { BenchMetric } from '../../lib/stream/bench.ts';

/** What `make bench` measures, in order; `make bench ARGS=stream,desktop` takes some of them. */
const SUITES: Readonly<Record<string, () => Promise<BenchMetric[]>>> = {
  stream: async () => (await import('../../lib/stream/stream.bench.ts')).bench(),
  curate: async () => (await import('./curate.bench.ts')).bench(),
  store: async () => (await import('../../lib/store/store.bench.ts')).bench(),
  desktop: async () => (await import('../../lib/desktop/desktop.bench.ts')).bench(),
  network: async () => (await import('../../lib/policy/network/network.bench.ts')).bench(),
  kernels: async () => (await import('../../native/kernels.bench.ts')).bench(),
  rollout: async () => (await import('../../lib/rollout/overhead.bench.ts')).bench(),
  guests: async () => (await import('../../lib/environment/guests.bench.ts')).bench(),
  pipeline: async () => (await import('./pipeline.bench.ts')).bench(),
};

/** `metric` records on stdout, a table on stderr. */
async function main(names: string[]): Promise<void> {
  const unknown = names.find((name) => !(name in SUITES));
  if (unknown !== undefined)
    throw new DartError(`unknown suite ${unknown}`, { where: 'bench', hint: Object.keys(SUITES).join(', ') });
  const rows: (string | null)[][] = [];
  for (const name of names.length > 0 ? names : Object.keys(SUITES)) {
    process.stderr.write(`bench: ${name} …\n`);
    for (const metric of await SUITES[name]!()) {
      process.stdout.write(`${JSON.stringify({ type: 'metric', v: 1, ...metric })}\n`);
      const ratio = metric.ratio === undefined ? null : `${metric.ratio.toFixed(2)} × ${metric.against}`;
      rows.push([metric.name, metric.value.toPrecision(4), metric.unit, ratio]);
    }
  }
  await printTable({ stderr: process.stderr }, ['measured', 'value', 'unit', 'ratio'], rows);
}

main(process.argv.slice(2).flatMap((list) => list.split(','))).catch((error: unknown) => {
  process.stderr.write(`bench: ${messageOf(error)}\n`);
  process.exitCode = 2;
});
