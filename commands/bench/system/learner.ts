import { quantileOf } from '../../../lib/rollout/simulate/distribution.ts';
import { updateShare } from '../../../lib/rollout/simulate/plan.ts';
import { readWorkload } from '../../../lib/rollout/simulate/workload.ts';
import { openStore } from '../../../lib/store/index.ts';
import { followFile } from '../../../lib/stream/follow.ts';
import { parseRecord } from '../../../lib/stream/parse.ts';
import { readRecords } from '../../../lib/stream/reader.ts';
import { delay } from '../../../lib/stream/timer.ts';
import { GroupGatherer, type WholeGroup } from '../../../lib/training/groups.ts';

/**
 * A trainer without training, for `make bench-system`: gathers samples into groups as dart-train does, and publishes a
 * version through the store once an update has taken the workload's time. It learns from the newest groups; what came
 * while it was busy and is older is passed over. Writes a line for each version.
 */
const [samples = '', url = '', runId = '', file = '', scale = '1'] = process.argv.slice(2);
const workload = await readWorkload(file);
const store = await openStore(url);
const draw = quantileOf(workload.latency.update.distribution);
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());

let waiting: WholeGroup[] = [];
let version = 0;
let updating = Promise.resolve();
let busy = false;
const gatherer = new GroupGatherer();
const input = followFile(samples, stop.signal, { pollMs: 20 });
for await (const { record, where } of readRecords(input, { name: samples })) {
  if (record.type !== 'sample') continue;
  const group = gatherer.add(parseRecord('sample', record, where), where);
  if (group) waiting.push(group);
  if (!busy) updating = update();
}
await updating;
await store.close();

async function update(): Promise<void> {
  busy = true;
  while (waiting.length >= workload.batch_groups.value && !stop.signal.aborted) {
    const groups = waiting.slice(-workload.batch_groups.value);
    waiting = [];
    await delay((1000 * draw(updateShare(0, version + 1))) / Number(scale), stop.signal).catch(() => {});
    if (stop.signal.aborted) break;
    const staleness = groups.map(
      ({ samples }) => version - Math.min(...samples.map(({ sample }) => sample.behaviour_version)),
    );
    version += 1;
    const ids = groups.map((group) => group.groupId);
    await store.publishVersion({ run_id: runId, version, path: `versions/${version}`, groups: ids });
    process.stdout.write(`${JSON.stringify({ version, staleness })}\n`);
  }
  busy = false;
}
