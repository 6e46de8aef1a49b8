import { createHash } from 'node:crypto';
import { type Step, type Trajectory, trajectorySchema } from '../../stream/records.ts';

/** A picture of one pixel. */
export const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==',
  'base64',
);
export const PIXEL_SHA = createHash('sha256').update(PIXEL).digest('hex');
export const ABSENT_SHA = 'ab'.repeat(32);

/** Has PIXEL and nothing else. */
export async function loadPixel(sha256: string): Promise<Uint8Array> {
  if (sha256 === PIXEL_SHA) return PIXEL;
  throw new Error('no such file');
}

/** A step that clicks at (320, 180) on a screen of 640 × 360, with what differs from that. */
export function stepOf(parts: Partial<Step> = {}, response: Partial<Step['response']> = {}): Step {
  return {
    index: 0,
    observation: { screenshot: { sha256: PIXEL_SHA, media_type: 'image/png', width: 640, height: 360 } },
    response: {
      text: "Thought: the button is in the middle.\nAction: click(start_box='(320,180)')",
      token_ids: [11, 12, 13],
      logprobs: [-0.05, -1.5, null],
      entropies: [0.04, 2.5, 0.7],
      finish_reason: 'stop',
      ...response,
    },
    prompt: { history: 0, screenshots: 1 },
    model_version: 4,
    actions: [{ type: 'click', x: 320, y: 180 }],
    policy_ms: 1234,
    env_ms: 56,
    ...parts,
  };
}

/** A trajectory of these steps, numbered. */
export function trajectoryOf(steps: readonly Step[], parts: Partial<Trajectory> = {}): Trajectory {
  return trajectorySchema.parse({
    type: 'trajectory',
    v: 1,
    trajectory_id: 'run/press/0/1',
    run_id: 'run',
    group_id: 'run/press/0',
    group_size: 8,
    rollout_index: 1,
    task_id: 'press',
    domain: 'os',
    instruction: 'press the button',
    env_id: 'embedded-0',
    env_seed: 7,
    policy: { name: 'onnx:policy', versions: [4] },
    sampling: { temperature: 1 },
    limits: { max_steps: 30 },
    steps: steps.map((step, index) => ({ ...step, index })),
    reward: 1,
    outcome: 'success',
    started_at: '2026-01-02T03:04:05.000Z',
    finished_at: '2026-01-02T03:05:15.000Z',
    ...parts,
  });
}
