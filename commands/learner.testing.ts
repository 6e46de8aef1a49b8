import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../lib/store/index.ts';

/**
 * A trainer without training, for tests that kill it: follows a file of samples, and publishes a version for each whole
 * group that is not final yet, as `dart-train` does. What a version was learned from is in its metrics.
 */
interface Sample {
  group_id: string;
  group_steps: number;
  trajectory_id: string;
  step_index: number;
}

const [url = '', path = ''] = process.argv.slice(2);
const store = await openStore(url);
const steps = new Map<string, Set<string>>();
let version = (await store.latestVersion('run'))?.version ?? 0;

for await (const line of follow(await open(path, 'a+'))) {
  const sample = JSON.parse(line) as Sample;
  const seen = steps.get(sample.group_id) ?? new Set();
  steps.set(sample.group_id, seen.add(`${sample.trajectory_id} ${sample.step_index}`));
  if (seen.size < sample.group_steps) continue;
  steps.delete(sample.group_id);
  await learn(sample.group_id);
}

async function learn(group: string): Promise<void> {
  if ((await store.finishedGroups([group])).has(group)) return;
  version += 1;
  const path = `versions/${version}`;
  await store.publishVersion({ run_id: 'run', version, path, groups: [group], metrics: { learned: [group] } });
}

/** Whole lines of a file that grows, for ever. */
async function* follow(file: FileHandle): AsyncGenerator<string> {
  const buffer = Buffer.alloc(1 << 16);
  let rest = '';
  for (let at = 0; ; ) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) await sleep(20);
    at += bytesRead;
    const lines = (rest + buffer.toString('latin1', 0, bytesRead)).split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
}
