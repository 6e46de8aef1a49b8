import { z } from 'zod';
import { actionSchema } from './action.ts';
import { logProbabilities, measuredNumbers, ROUNDING, samplingTemperature, wholeNumbers } from './numbers.ts';

/**
 * Every record that travels through the pipes (design §3). One JSON object a line; `type` first, then `v`.
 * Objects are loose: a field that a command does not know passes through it untouched.
 */
export const SCHEMA_VERSION = 1;

const timestamp = z.iso.datetime();
const score = z.number().min(0).max(1);
const count = z.number().int().nonnegative();
const seconds = z.number().nonnegative();
export const taskSchema = z.looseObject({
  type: z.literal('task'),
  v: z.literal(SCHEMA_VERSION),
  task_id: z.string().min(1),
  domain: z.string().min(1),
  id: z.string().min(1),
  instruction: z.string().min(1),
  snapshot: z.string().optional(),
  config: z
    .array(z.looseObject({ type: z.string(), parameters: z.record(z.string(), z.unknown()).optional() }))
    .optional(),
  evaluator: z.looseObject({ func: z.union([z.string(), z.array(z.string())]) }),
});

export const envSchema = z.looseObject({
  type: z.literal('env'),
  v: z.literal(SCHEMA_VERSION),
  env_id: z.string().min(1),
  driver: z.string(),
  state: z.enum(['starting', 'ready', 'leased', 'failed', 'stopped']),
  server_url: z.string().nullable(),
  cdp_url: z.string().nullable().optional(),
  vlc_url: z.string().nullable().optional(),
  vnc_url: z.string().nullable().optional(),
  screen: z.looseObject({ width: count, height: count }),
  boot_ms: z.number().nonnegative(),
  /** The run that it was started for. */
  run_id: z.string().optional(),
  /** How long to wait for it where OSWorld's protocol waits; its kind's own waits where absent. */
  waits: z.looseObject({ after_reset_s: seconds, after_action_s: seconds, before_evaluate_s: seconds }).optional(),
  /** Whether its server can put it back into a clean state (`POST /reset`); unknown where absent. */
  resets: z.boolean().optional(),
  /** A POST here puts a clean desktop in its place: the answer is the new one's env record. */
  replace_url: z.string().nullable().optional(),
});

export const screenshotSchema = z.looseObject({
  /** Content address: the file is `blobs/<2 hex>/<62 hex>.png`. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  media_type: z.string(),
  width: count,
  height: count,
});

export const stepSchema = z.looseObject({
  index: count,
  observation: z.looseObject({ screenshot: screenshotSchema, accessibility: z.string().optional() }),
  response: z.looseObject({
    text: z.string(),
    token_ids: wholeNumbers(),
    /** One per token id; null is an unscored token. */
    logprobs: measuredNumbers(),
    /** Exact entropies in nats, one per token id, where the policy can report them. */
    entropies: measuredNumbers().optional(),
    finish_reason: z.string(),
  }),
  prompt: z.looseObject({
    token_ids: wholeNumbers().optional(),
    /** How many earlier replies and screenshots the prompt held. */
    history: count,
    screenshots: count.optional(),
  }),
  model_version: count,
  actions: z.array(actionSchema),
  parse_error: z.string().optional(),
  policy_ms: z.number().nonnegative(),
  env_ms: z.number().nonnegative(),
});

export const OUTCOMES = ['success', 'failure', 'truncated', 'policy_error', 'env_error', 'evaluator_error'] as const;

export const samplingSchema = z.looseObject({
  temperature: samplingTemperature(),
  top_p: z.number().optional(),
  top_k: z.number().int().optional(),
  max_tokens: z.number().int().optional(),
  seed: z.number().int().optional(),
});

export const trajectorySchema = z.looseObject({
  type: z.literal('trajectory'),
  v: z.literal(SCHEMA_VERSION),
  trajectory_id: z.string().min(1),
  run_id: z.string(),
  group_id: z.string(),
  /** How many rollouts were planned together in this group. */
  group_size: count,
  rollout_index: count,
  task_id: z.string(),
  domain: z.string(),
  instruction: z.string(),
  env_id: z.string(),
  /** Seed of the desktop: with the task it gives the first screen. */
  env_seed: count.optional(),
  policy: z.looseObject({ name: z.string(), versions: z.array(count) }),
  sampling: samplingSchema,
  limits: z.looseObject({ max_steps: count }),
  steps: z.array(stepSchema),
  /** Null whenever `outcome` is an error: an error is never a reward of 0. */
  reward: score.nullable(),
  outcome: z.enum(OUTCOMES),
  error: z.string().optional(),
  started_at: timestamp,
  finished_at: timestamp,
});

/** A step to learn from. Of trajectories dart-curate takes impossible log-probabilities for unscored tokens. */
const sampledStepSchema = stepSchema.extend({
  response: stepSchema.shape.response.extend({ logprobs: logProbabilities() }),
});

export const sampleSchema = z.looseObject({
  type: z.literal('sample'),
  v: z.literal(SCHEMA_VERSION),
  run_id: z.string(),
  group_id: z.string(),
  /** How many samples this group has in all; the trainer knows by it when a group is whole. */
  group_steps: count,
  trajectory_id: z.string(),
  step_index: count,
  task_id: z.string(),
  domain: z.string(),
  instruction: z.string(),
  reward: score,
  advantage: z.number(),
  /** Mean token entropy of the step in nats; null where the policy could not report it. */
  entropy: z.number().min(-ROUNDING, 'expected an entropy, at least 0').nullable(),
  /** True for a step that the experience pool put into the group. */
  injected: z.boolean(),
  behaviour_version: count,
  /** Temperature that the behaviour policy sampled at. */
  temperature: samplingTemperature(),
  /** The earlier replies of the trajectory, oldest first. */
  history: z.array(z.string()),
  /** sha256 of the screenshots before the step's own that the prompt held, oldest first. */
  screenshots: z.array(z.string()).optional(),
  step: sampledStepSchema,
});

/** An episode that was preferred or not. */
const completionSchema = z.looseObject({
  trajectory_id: z.string(),
  reward: score,
  steps: z.array(stepSchema),
});

export const preferenceSchema = z
  .looseObject({
    type: z.literal('preference'),
    v: z.literal(SCHEMA_VERSION),
    /** What it is for: a pair (dpo) has `chosen` and `rejected`, a labelled episode (kto) `label` and `completion`. */
    objective: z.enum(['dpo', 'kto']),
    task_id: z.string(),
    domain: z.string(),
    instruction: z.string(),
    chosen: completionSchema.optional(),
    rejected: completionSchema.optional(),
    /** True for a desirable episode, as in TRL. */
    label: z.boolean().optional(),
    completion: completionSchema.optional(),
  })
  .refine(hasItsParts, 'dpo wants "chosen" and "rejected", kto "label" and "completion"');

function hasItsParts(record: { objective: 'dpo' | 'kto'; [field: string]: unknown }): boolean {
  const parts = record.objective === 'dpo' ? ['chosen', 'rejected'] : ['label', 'completion'];
  return parts.every((part) => record[part] !== undefined);
}

export const demonstrationSchema = z.looseObject({
  type: z.literal('demonstration'),
  v: z.literal(SCHEMA_VERSION),
  task_id: z.string(),
  instruction: z.string(),
  /** A whole episode, as in a trajectory; or else one `step` with its `history`, as in a sample. */
  steps: z.array(stepSchema).optional(),
  step: stepSchema.optional(),
  history: z.array(z.string()).optional(),
  screenshots: z.array(z.string()).optional(),
});

export const metricSchema = z.looseObject({
  type: z.literal('metric'),
  v: z.literal(SCHEMA_VERSION),
  name: z.string(),
  value: z.number().nullable(),
  unit: z.string().optional(),
  /** What `ratio` compares with. */
  against: z.string().optional(),
  ratio: z.number().nullable().optional(),
});

export const checkpointSchema = z.looseObject({
  type: z.literal('checkpoint'),
  v: z.literal(SCHEMA_VERSION),
  version: count,
  path: z.string(),
});

export const resultSchema = z.looseObject({
  type: z.literal('result'),
  v: z.literal(SCHEMA_VERSION),
  task_id: z.string(),
  domain: z.string(),
  /** Mean score of the task over its scored rollouts; null when none was scored. */
  score: score.nullable(),
  rollouts: count,
});

export const summarySchema = z.looseObject({
  type: z.literal('summary'),
  v: z.literal(SCHEMA_VERSION),
  command: z.string(),
});

export const eventSchema = z.looseObject({
  type: z.literal('event'),
  v: z.literal(SCHEMA_VERSION),
  event: z.string(),
});

/** Every record type with its schema; `docs/schemas/` is written from this table. */
export const RECORD_SCHEMAS = {
  task: taskSchema,
  env: envSchema,
  trajectory: trajectorySchema,
  sample: sampleSchema,
  preference: preferenceSchema,
  demonstration: demonstrationSchema,
  metric: metricSchema,
  checkpoint: checkpointSchema,
  result: resultSchema,
  summary: summarySchema,
  event: eventSchema,
} as const;

export type RecordType = keyof typeof RECORD_SCHEMAS;
export type Task = z.infer<typeof taskSchema>;
export type Env = z.infer<typeof envSchema>;
export type Screenshot = z.infer<typeof screenshotSchema>;
export type Step = z.infer<typeof stepSchema>;
export type Sampling = z.infer<typeof samplingSchema>;
export type Outcome = (typeof OUTCOMES)[number];
export type Trajectory = z.infer<typeof trajectorySchema>;
export type Sample = z.infer<typeof sampleSchema>;
export type Preference = z.infer<typeof preferenceSchema>;
export type Demonstration = z.infer<typeof demonstrationSchema>;
export type Metric = z.infer<typeof metricSchema>;
export type Checkpoint = z.infer<typeof checkpointSchema>;
export type Result = z.infer<typeof resultSchema>;
export type Summary = z.infer<typeof summarySchema>;
export type Event = z.infer<typeof eventSchema>;
/** Any line of any stream: at least its type. */
export type AnyRecord = { type: string; [field: string]: unknown };
