import { createHash } from 'node:crypto';
import { WholeFile } from '../../lib/stream/files.ts';
import { Random } from '../../lib/stream/random.ts';

/** What the trajectories of a file look like. */
export interface Shape {
  name: string;
  steps: number;
  /** Tokens of a reply. */
  tokens: number;
}

/** A 7B agent at its limits: 30 steps of 500 tokens; and an embedded policy: 5 steps of 14 tokens. */
export const SHAPES: readonly Shape[] = [
  { name: '0.5 MB lines', steps: 30, tokens: 500 },
  { name: '5 KB lines', steps: 5, tokens: 14 },
];

const WORDS = 'Thought: I see the settings window is open and the next thing to do is to click on the button'.split(
  ' ',
);
const GROUP = 8;
const TASKS = 181;

/**
 * Writes a file of trajectories, group after group of eight, four in ten a success.
 * @returns its size in bytes.
 */
export async function writeTrajectories(path: string, shape: Shape, bytes: number): Promise<number> {
  const file = await WholeFile.open(path);
  const random = new Random(`bench/${shape.name}`);
  let written = 0;
  for (let i = 0; written < bytes; i++) {
    const line = `${JSON.stringify(trajectory(i, shape, random))}\n`;
    written += line.length;
    await file.write(line);
  }
  await file.commit();
  return written;
}

function trajectory(serial: number, shape: Shape, random: Random) {
  const group = Math.floor(serial / GROUP);
  const task_id = `task-${group % TASKS}`;
  const group_id = `bench/${task_id}/${Math.floor(group / TASKS)}`;
  const reward = random.next() < 0.4 ? 1 : 0;
  return {
    ...{ type: 'trajectory', v: 1, trajectory_id: `${group_id}/${serial % GROUP}`, run_id: 'bench', group_id },
    ...{ group_size: GROUP, rollout_index: serial % GROUP, task_id, domain: 'os', instruction: 'open the settings' },
    ...{ env_id: 'e1', policy: { name: 'openai', versions: [3] }, sampling: { temperature: 1, seed: serial } },
    limits: { max_steps: 30 },
    steps: Array.from({ length: shape.steps }, (_, index) => step(index, serial, shape, random)),
    ...{ reward, outcome: reward === 1 ? 'success' : 'failure' },
    ...{ started_at: '2025-01-01T00:00:00.000Z', finished_at: '2025-01-01T00:01:00.000Z' },
  };
}

function step(index: number, serial: number, { tokens }: Shape, random: Random) {
  const each = <T>(make: () => T) => Array.from({ length: tokens }, make);
  const sha256 = createHash('sha256').update(`${serial} ${index}`).digest('hex');
  return {
    index,
    observation: { screenshot: { sha256, media_type: 'image/png', width: 1920, height: 1080 } },
    response: {
      text: each(() => WORDS[Math.floor(random.next() * WORDS.length)]).join(' '),
      token_ids: each(() => Math.floor(random.next() * 151_000)),
      logprobs: each(() => -5 * random.next() ** 4),
      finish_reason: 'stop',
    },
    prompt: { history: Math.min(index, 35), screenshots: Math.min(index + 1, 5) },
    model_version: 3,
    actions: [{ type: 'click', x: 5, y: 6 }],
    ...{ policy_ms: 900, env_ms: 2100 },
  };
}
