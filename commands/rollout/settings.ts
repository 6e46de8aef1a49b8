import { join } from 'node:path';
import { resolvePath } from '../../lib/cli/input.ts';
import { xdgFolder } from '../../lib/cli/paths.ts';
import type { CommandContext, OptionValue } from '../../lib/cli/spec.ts';
import { DartError } from '../../lib/errors.ts';
import type { TaskFilter } from '../../lib/osworld/load.ts';
import { splitPolicySpec } from '../../lib/policy/spec.ts';
import type { SessionOptions } from '../../lib/rollout/session.ts';
import { assetSettings } from '../assets.ts';
import { newRunId } from '../run_id.ts';
import { serverSettings } from '../server_settings.ts';
import { workersOf } from './workers.ts';

/** What the options of the command line mean, before anything is opened. */
export interface Settings {
  session: Omit<SessionOptions, 'tasks' | 'environments' | 'blobs' | 'store' | 'write' | 'notes' | 'stopping'>;
  filter: TaskFilter;
  blobs: string;
  graceMs: number;
  /** `NAME=WEIGHT` of domains and tasks. */
  weights: string[];
  /** How often to write what is used; null: only in the summary. */
  usageMs: number | null;
}

const AGAIN_WITH_STORE = 'start the servers again, and this run with the same --store and --run-id';
const AGAIN =
  'start the servers again, and the run; with --store URL and the same --run-id it would go on where it ended';

/** What `dart-rollout`'s options ask of a session, before anything is opened. */
export function settingsOf(context: CommandContext): Settings {
  const { io, options } = context;
  const number = (name: string) => options[name] as number;
  const text = (name: string) => options[name] as string | undefined;
  const follow = options.follow === true;
  return {
    filter: {
      domains: options.domain as string[] | undefined,
      ids: options.task as string[] | undefined,
      sample: options.sample as number | undefined,
      seed: number('seed'),
    },
    blobs: text('blobs') === undefined ? join(xdgFolder('state', io.env), 'blobs') : resolvePath(io, text('blobs')!),
    graceMs: number('grace') * 1000,
    weights: weightsOf(options.weight, follow),
    usageMs: options.usage === undefined ? null : number('usage') * 1000,
    session: {
      runId: text('run-id') ?? newRunId(),
      policy: policyPath(text('policy')!, io),
      ...workersOf(context),
      rollouts: number('rollouts'),
      epochs: epochsOf(options.epochs, follow),
      follow,
      mode: text('mode') as 'async' | 'batch',
      batchGroups: number('batch-groups'),
      versionWaitMs: number('version-wait') * 1000,
      sync: text('sync') as 'one' | 'global' | 'off',
      syncIntervalMs: number('sync-interval') * 1000,
      window: options.window as number | undefined,
      seed: (options.seed as number | undefined) ?? 0,
      evaluation: options['eval-seeds'] === true,
      dynamicRollouts: follow && options['dynamic-rollouts'] === true,
      dynamicLength: follow && options['dynamic-length'] === true,
      limits: { minSteps: number('min-steps'), maxSteps: number('max-steps'), slack: number('length-slack') },
      successWindow: number('success-window'),
      sampling: {
        temperature: number('temperature'),
        top_p: number('top-p'),
        ...(options['top-k'] === undefined ? {} : { top_k: number('top-k') }),
        ...(options['max-tokens'] === undefined ? {} : { max_tokens: number('max-tokens') }),
      },
      onParseError: text('on-parse-error') as 'observe' | 'fail',
      failAtLimit: options['fail-at-limit'] === true,
      ...assetSettings(context),
      servers: serverSettings(context),
      whenNoneLeft: options.store ? AGAIN_WITH_STORE : AGAIN,
      failFast: options['fail-fast'] === true,
      config: { ...options, policy: policyPath(text('policy')!, io) },
    },
  };
}

/** Passes over the tasks; with --follow they have no end. */
function epochsOf(given: OptionValue, follow: boolean): number {
  if (follow && given !== undefined)
    throw new DartError('with --follow passes over the tasks have no end', {
      where: '--epochs',
      hint: 'one of the two',
    });
  return (given as number | undefined) ?? 1;
}

/** Without --follow each task gets its rollouts once, so that weights would mean nothing. */
function weightsOf(given: OptionValue, follow: boolean): string[] {
  const weights = (given as string[] | undefined) ?? [];
  if (weights.length > 0 && !follow)
    throw new DartError('weights count only with --follow', {
      where: '--weight',
      hint: 'add --follow, or leave it out',
    });
  return weights;
}

/** Kinds of policies whose specification is a path. */
const PATH_KINDS = new Set(['onnx', 'replay', 'workload']);

/** A policy specification whose path, where it has one, is taken from the command's folder. */
export function policyPath(spec: string, io: CommandContext['io']): string {
  const { kind, rest } = splitPolicySpec(spec);
  return PATH_KINDS.has(kind) && rest !== '' ? `${kind}:${resolvePath(io, rest)}` : spec;
}
