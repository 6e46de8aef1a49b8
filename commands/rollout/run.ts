import { logOf } from '../../lib/cli/log.ts';
import { type Output, openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { printTable } from '../../lib/cli/table.ts';
import { openEnvironments } from '../../lib/environment/open.ts';
import type { EnvironmentPool } from '../../lib/environment/pool.ts';
import { EXIT, messageOf } from '../../lib/errors.ts';
import { noteDesktops } from '../../lib/rollout/desktop_notes.ts';
import { openPolicies } from '../../lib/rollout/policies.ts';
import { runSession, type SessionEnd } from '../../lib/rollout/session.ts';
import { checkedCommand } from '../../lib/rollout/spawn_command.ts';
import { stoppingOf } from '../../lib/rollout/stopping.ts';
import { type Utilisation, utilisation } from '../../lib/rollout/usage.ts';
import { type PartUsage, shareUsed } from '../../lib/rollout/utilisation.ts';
import { taskWeights } from '../../lib/rollout/weights.ts';
import type { Store } from '../../lib/store/index.ts';
import { BlobStore } from '../../lib/stream/blobs.ts';
import { makeFolder } from '../../lib/stream/files.ts';
import { type AnyRecord, SCHEMA_VERSION, type Summary } from '../../lib/stream/records.ts';
import { ReaderGone } from '../../lib/stream/writer.ts';
import { tellOfCleanUp } from '../clean_up.ts';
import { givenStore } from '../store.ts';
import { followDesktops } from './follow_desktops.ts';
import { type RolloutInput, readInput } from './input.ts';
import { Observation } from './observe.ts';
import { printOf } from './print_of.ts';
import { type Settings, settingsOf } from './settings.ts';
import { qualities, usedWords } from './standing.ts';
import { tellOfStop } from './tell_stop.ts';
import { withRunId } from './with_run_id.ts';

const DEFAULT_DESKTOPS = 'embedded:8';

/** `dart-rollout`: everything is opened here, and closed here in the opposite order. */
export async function run(context: CommandContext): Promise<number> {
  const { options } = context;
  const log = logOf(context);
  const settings = settingsOf(context);
  const output = await openOutput(context);
  const input = await readInput(context, settings.filter, (record) => output.write(record));
  if (options['dry-run'] === true) {
    await checkPolicy(settings);
    log.info(
      `would give ${input.tasks.length} tasks ${settings.session.rollouts} rollouts each as run ${settings.session.runId}`,
    );
    return EXIT.ok;
  }
  const { runId } = settings.session;
  const write = (record: AnyRecord) => output.write(record);
  const observation = await Observation.open(context, { runId, usageMs: settings.usageMs, write });
  try {
    return await runObserved(context, { settings, input, output, observation });
  } finally {
    await observation.close();
  }
}

interface Parts {
  settings: Settings;
  input: RolloutInput;
  output: Output;
  observation: Observation;
}

async function runObserved(context: CommandContext, { settings, input, output, observation }: Parts): Promise<number> {
  const { io, options } = context;
  const log = logOf(context);
  await makeFolder(settings.blobs);
  const stopping = stoppingOf(io.signal, settings.graceMs, (reason) => reason instanceof ReaderGone);
  const store = await givenStore(context, (spooled) => printOf(settings.session.runId, spooled, output));
  await warnOfOtherPolicy(context, store, settings);
  const desktops = input.envs.length > 0 ? input.envs : ((options.env as string | undefined) ?? DEFAULT_DESKTOPS);
  const byHand = tellOfCleanUp(desktops, settings.session.runId);
  const environments = await openEnvironments(desktops, {
    runId: settings.session.runId,
    tell: (line) => log.info(line),
    onFailure: ({ env_id, error, retired }) =>
      log.warnOften('desktop failures', `desktop ${env_id} ${retired ? 'retired' : 'replaced'}: ${messageOf(error)}`),
  });
  if (input.later) void followDesktops(input.later, environments, (line) => log.warn(line), io.signal);
  const noted =
    store && noteDesktops(environments, store, { runId: settings.session.runId, onError: (text) => log.warn(text) });
  const quiet = tellOfStop(log, {
    ...{ signal: io.signal, abort: stopping.abort, graceMs: settings.graceMs },
    underWay: () => observation.underWay,
    what: 'rollouts',
    skipped: output.path === null ? undefined : `${output.path} is not written`,
  });
  /** What came of a run that fails. */
  let broken: SessionEnd | null = null;
  try {
    const end = await runSession({
      ...settings.session,
      tasks: input.tasks,
      weight: settings.session.follow ? taskWeights(settings.weights, input.tasks) : undefined,
      environments,
      store,
      stopping,
      blobs: new BlobStore(settings.blobs),
      write: (trajectory, json) => output.write(trajectory, json),
      notes: {
        warn: (message, kind) => log.warnOften(kind, message),
        info: (message) => log.info(message),
        ...observation.begin(totalOf(input.tasks.length, settings, store)),
        failed: (end) => {
          broken = end;
        },
      },
    }).catch(async (reason: unknown) => {
      const error = withRunId(reason, settings.session.runId);
      if (broken) await keepBroken(broken, error);
      throw error;
    });
    await observation.end((await nothingLeft(input.tasks.length, settings, store, end)) ?? describe(end));
    await output.write(summaryOf(end, settings, environments, input.skipped));
    await output.close();
    if (options.table === true) await printTable(io, ['outcome', 'rollouts'], Object.entries(end.tally.outcomes));
    const failed = end.tally.errors > 0 || input.skipped > 0;
    return failed && !settings.session.follow ? EXIT.failure : EXIT.ok;
  } finally {
    stopping.dispose();
    quiet();
    await environments.close();
    byHand();
    await noted?.();
    await store?.close();
  }

  /** As at a stop: what has ended stays, and the summary says why there is no more. */
  async function keepBroken(end: SessionEnd, error: unknown): Promise<void> {
    if (error instanceof ReaderGone) return;
    await observation.end(describe(end));
    const summary = summaryOf(end, settings, environments, input.skipped);
    await output
      .write({ ...summary, error: messageOf(error) })
      .then(() => output.close())
      .catch((second: unknown) => log.debug(`no summary: ${messageOf(second)}`));
  }
}

function describe({ tally, version, usage }: SessionEnd): string {
  const counts = Object.entries(tally.outcomes).filter(([, count]) => count > 0);
  return [
    `${tally.trajectories} trajectories`,
    `${Math.round(tally.perMinute)}/min`,
    ...qualities(tally, version),
    tally.trajectories > 0 ? usedWords(utilisation(usage)) : '',
    counts.map(([name, count]) => `${name} ${count}`).join(' '),
  ]
    .filter(Boolean)
    .join(', ');
}

/** How many rollouts there will be; null where that is not known: those of others count, too, in a shared run. */
function totalOf(tasks: number, { session }: Settings, store: Store | null): number | null {
  return session.follow || store !== null ? null : wantedOf(tasks, session);
}

/** The rollouts of a run without --follow. */
function wantedOf(tasks: number, { rollouts, epochs = 1 }: Settings['session']): number {
  return tasks * rollouts * epochs;
}

/** A run that had everything it was asked for before it began: said in words, where numbers of nothing would puzzle. */
async function nothingLeft(
  tasks: number,
  { session }: Settings,
  store: Store | null,
  { tally }: SessionEnd,
): Promise<string | null> {
  const { runId, follow } = session;
  if (store === null || follow || tally.trajectories > 0) return null;
  const wanted = wantedOf(tasks, session);
  const there = await store.countRollouts(runId);
  if (there >= wanted) return `all ${wanted} rollouts of run ${runId} are there already`;
  return `nothing done: ${there} of ${wanted} rollouts of run ${runId} are there already`;
}

/** Two policies in one run are told apart by nobody who reads it. */
async function warnOfOtherPolicy(context: CommandContext, store: Store | null, { session }: Settings): Promise<void> {
  const before = (await store?.runConfig(session.runId))?.policy;
  if (typeof before !== 'string' || before === session.policy) return;
  logOf(context).warn(
    `run ${session.runId} was begun with policy ${before} and goes on with ${session.policy}. Try: another --run-id`,
  );
}

/** Opens the policy and closes it again; servers that would have to be started for it are not. */
async function checkPolicy({ session: { policy, threads, servers } }: Settings): Promise<void> {
  if (servers?.spawn !== undefined) {
    checkedCommand(servers.spawn);
    return;
  }
  const { policies } = await openPolicies(policy, 1, threads, servers);
  await Promise.all(policies.map((opened) => opened.close()));
}

function summaryOf(
  { tally, policy, version, syncs, usage, desktops, workers }: SessionEnd,
  settings: Settings,
  environments: EnvironmentPool,
  skipped: number,
): Summary {
  return {
    type: 'summary',
    v: SCHEMA_VERSION,
    command: 'dart-rollout',
    run_id: settings.session.runId,
    policy,
    version,
    trajectories: tally.trajectories,
    scored: tally.scored,
    success: tally.meanReward,
    outcomes: tally.outcomes,
    steps: tally.steps,
    parse_errors: tally.parseErrors,
    unscored_tokens: tally.unscoredTokens,
    desktop_failures: environments.failures,
    desktop_counts: environments.counts,
    syncs,
    skipped,
    ...rounded(utilisation(usage)),
    desktops: sharesOf(desktops),
    workers: sharesOf(workers),
    wall_s: Math.round(tally.wallMs) / 1000,
  };
}

function rounded(rates: Utilisation): Record<string, number> {
  return Object.fromEntries(Object.entries(rates).map(([name, rate]) => [name, Math.round(rate * 1000) / 1000]));
}

/** What share of the time that each was held it was used. */
function sharesOf(parts: readonly PartUsage[]): Record<string, number | null> {
  return Object.fromEntries(parts.map((part) => [part.id, roundedShare(shareUsed(part))]));
}

function roundedShare(share: number | null): number | null {
  return share === null ? null : Math.round(share * 1000) / 1000;
}
