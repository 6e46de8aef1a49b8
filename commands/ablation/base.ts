import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileError } from '../../lib/stream/errno.ts';
import { makeFolderSync } from '../../lib/stream/files.ts';
import { sha256Of } from '../../lib/stream/sha256.ts';
import { SUITES } from './evaluations.ts';
import { demonstrationsOf, type Lesson, lastLessons, lessons, successesOf, TAUGHT } from './lessons.ts';
import { LOCK_FILE, lockRuns } from './lock.ts';
import { type Base, TRAINER } from './plan.ts';
import { type Job, playJobs } from './queue.ts';
import { lineOf, runLines } from './shell.ts';
import { pipelineLine, placesOf, publishLine, type Training } from './training.ts';

/**
 * The base policy of the ablation. A fresh network imitates experts on the training tasks, on a third of them often, on
 * others a little, and on a quarter only how to go on without getting anywhere. By imitation alone it masters few tasks, so
 * it then learns the third by reinforcement, which also teaches it to give up; so at last it imitates its own successes
 * there beside other lessons. The demo's base fails within a few steps and has no step that it is sure of: neither the
 * dynamic length nor the choice by entropy could show there.
 */
export function baseJob(dir: string, product: string): Job {
  const { demonstrate, imitate, reinforce, settle } = baseLines(dir, product);
  const episodesOf = async (taught: readonly Lesson[]) =>
    (await Promise.all(taught.map((each) => demonstrationsOf(each, join(dir, `${each.name}.ndjson`))))).join('');
  return {
    title: 'the base policy',
    product,
    seconds: 340,
    run: async (stop) => {
      makeFolderSync(dir);
      await runLines(demonstrate, dir, stop);
      writeFileSync(join(dir, 'demonstrations.ndjson'), await episodesOf(lessons()));
      await runLines([...imitate, ...reinforce], dir, stop);
      const own = await successesOf(join(dir, 'own.ndjson'));
      writeFileSync(join(dir, 'settling.ndjson'), own + (await episodesOf(lastLessons())));
      await runLines(settle, dir, stop);
      for (const name of ['blobs', 'imitated', 'reinforced', 'settled'])
        rmSync(join(dir, name), { recursive: true, force: true });
    },
  };
}

/** Seconds of reinforcement on the tasks that it masters. */
const REINFORCED_SECONDS = 60;

/** Its lines, stage by stage; between them the episodes are put together. */
export function baseLines(
  dir: string,
  product: string,
): Record<'demonstrate' | 'imitate' | 'reinforce' | 'settle', string[]> {
  const file = (name: string) => join(dir, name);
  const blobs = ['--blobs', file('blobs')];
  const shortly = ['--max-steps', 12];
  const mastered = TAUGHT.flatMap((id) => ['--task', id]);
  const embedded = ['--tasks', SUITES.train, '--env'];
  const lesson = ({ name, tasks, episodes, policy, seed }: Lesson) => {
    const what = [...embedded, 'embedded:8', '--policy', policy, '-n', episodes];
    const how = [...shortly, '--seed', seed, ...blobs, '-o', file(`${name}.ndjson`), '--log-level', 'error'];
    const ids = tasks.flatMap((id) => ['--task', id]);
    return lineOf('bin/dart-rollout', what, how, ids);
  };
  const imitation = (demonstrations: string, policy: string, into: string, how: readonly (string | number)[]) => {
    const sft = ['--objective', 'sft', '--all-outcomes', '--policy', `onnx:${file(policy)}`, '--lr-schedule', 'cosine'];
    const where = ['--seed', 1, '--device', 'cpu', '--publish', file(into), '-o', file(`${into}.ndjson`), '--quiet'];
    return lineOf('bin/dart-train', file(demonstrations), sft, how, blobs, where);
  };
  const exported = (from: string, to: string) => lineOf('bin/dart-train', 'export', from, '-o', to, '--quiet');
  const reinforced = reinforcement(file('reinforced'), file('imitated.onnx'), [...shortly.map(String), ...mastered]);
  const own = ['embedded:16', '--policy', `onnx:${file('reinforced.onnx')}`, '-n', 24, '--no-dynamic-rollouts'];
  const ownHow = [...shortly, '--seed', 31, ...blobs, '-o', file('own.ndjson'), '--quiet'];
  return {
    demonstrate: [
      lineOf('bin/dart-train', 'init', '-o', file('fresh.onnx'), '--seed', 1, '--quiet'),
      ...[...lessons(), ...lastLessons()].map(lesson),
    ],
    imitate: [
      imitation('demonstrations.ndjson', 'fresh.onnx', 'imitated', ['--epochs', 8, '--lr', '1e-3', '--lr-warmup', 20]),
      exported(file('imitated'), file('imitated.onnx')),
    ],
    reinforce: [
      lineOf('mkdir', '-p', reinforced.dir),
      publishLine(reinforced),
      pipelineLine(reinforced),
      exported(placesOf(reinforced.dir).policy, file('reinforced.onnx')),
      lineOf('bin/dart-rollout', embedded, own, ownHow, mastered),
    ],
    settle: [
      imitation('settling.ndjson', 'reinforced.onnx', 'settled', ['--epochs', 3, '--lr', '5e-4', '--lr-warmup', 10]),
      exported(file('settled'), product),
    ],
  };
}

function reinforcement(dir: string, policy: string, rollout: readonly string[]): Training {
  const options = {
    rollout: ['-n', '8', ...rollout],
    curate: ['--preset', 'dart', '--no-pool'],
    train: [...TRAINER, '--lr', '3e-4'],
  };
  const limits = { desktops: 'embedded:32', cuts: [], limitSeconds: REINFORCED_SECONDS };
  return { dir, policy, base: '', tasks: SUITES.train, seed: 30, options, before: [], ...limits };
}

/** Where it is made anew. */
const TAUGHT_DIR = join('runs', 'taught');

/** Makes the base policy anew from its lessons, and says where it is. */
export async function makeBase(say: (line: string) => void, stop?: AbortSignal): Promise<string> {
  const product = join(TAUGHT_DIR, 'base.onnx');
  lockRuns(TAUGHT_DIR, 'make ablation ARGS=base', '');
  for (const name of readdirSync(TAUGHT_DIR))
    if (name !== LOCK_FILE) rmSync(join(TAUGHT_DIR, name), { recursive: true, force: true });
  await playJobs([baseJob(TAUGHT_DIR, product)], say, { stop });
  return product;
}

/** A policy that trainings begin with, and what marks it. @throws DartError where it cannot be read */
export function readBase(path: string): Base {
  try {
    return { path, sha256: sha256Of(readFileSync(path)) };
  } catch (error) {
    throw fileError(error, 'read the policy that BASE names', path);
  }
}
