import { createReadStream } from 'node:fs';
import { DartError } from '../errors.ts';
import { parseRecord } from '../stream/parse.ts';
import { readRecords } from '../stream/reader.ts';
import type { Step } from '../stream/records.ts';
import { EpisodeMemory } from './episodes.ts';
import type { Coordinates, Policy, PolicyReply, PolicyRequest } from './policy.ts';

type Recording = readonly Step[];

/**
 * Says again what recorded trajectories said, by task id and step. The second episode of a task replays its second
 * recording, and so on around. Coordinates are read as the recorded policy wrote them (`policy.coordinates`).
 */
export class ReplayPolicy implements Policy {
  readonly name = 'replay';
  readonly coordinates: Coordinates;
  readonly version = 0;
  readonly #recordings: ReadonlyMap<string, Recording[]>;
  readonly #path: string;
  readonly #episodes = new EpisodeMemory<Recording>();
  readonly #started = new Map<string, number>();

  private constructor(path: string, recordings: ReadonlyMap<string, Recording[]>, coordinates: Coordinates) {
    this.#path = path;
    this.#recordings = recordings;
    this.coordinates = coordinates;
  }

  /** Reads a file of trajectory records; other records in it are passed over. */
  static async open(path: string): Promise<ReplayPolicy> {
    const recordings = new Map<string, Recording[]>();
    const conventions = new Set<Coordinates>();
    for await (const { record, where } of readRecords(createReadStream(path), { name: path })) {
      if (record.type !== 'trajectory') continue;
      const { task_id, steps, policy } = parseRecord('trajectory', record, where);
      conventions.add((policy.coordinates as Coordinates | undefined) ?? 'absolute');
      if (!recordings.has(task_id)) recordings.set(task_id, []);
      recordings.get(task_id)!.push(steps);
    }
    if (recordings.size === 0) throw new DartError('there is no trajectory to replay', { where: path });
    if (conventions.size > 1) {
      throw new DartError(`the trajectories mix ways to write coordinates: ${[...conventions].join(', ')}`, {
        where: path,
        hint: 'one file for each policy',
      });
    }
    return new ReplayPolicy(path, recordings, [...conventions][0]!);
  }

  async act(request: PolicyRequest): Promise<PolicyReply> {
    const { task_id } = request.task;
    const recording = this.#episodes.of(request.episode ?? task_id, request.stepIndex, () => this.#nextOf(task_id));
    const step = recording[request.stepIndex];
    if (!step) {
      throw new DartError(`the recording of ${task_id} ends after ${recording.length} steps`, { where: this.#path });
    }
    const { response } = step;
    return {
      text: response.text,
      tokenIds: response.token_ids,
      logprobs: response.logprobs,
      ...(response.entropies ? { entropies: response.entropies } : {}),
      finishReason: response.finish_reason,
      modelVersion: step.model_version,
    };
  }

  async close(): Promise<void> {}

  #nextOf(taskId: string): Recording {
    const all = this.#recordings.get(taskId);
    if (!all) throw new DartError(`no recording of task ${taskId}`, { where: this.#path });
    const turn = this.#started.get(taskId) ?? 0;
    this.#started.set(taskId, turn + 1);
    return all[turn % all.length]!;
  }
}
