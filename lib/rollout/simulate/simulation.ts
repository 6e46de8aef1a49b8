import { DartError } from '../../errors.ts';
import { Random } from '../../stream/random.ts';
import type { Group } from '../planner.ts';
import type { Scheduler, WorkItem } from '../scheduler.ts';
import { TaskProgress } from '../task_progress.ts';
import { schedulerOf } from '../work_plan.ts';
import { Agenda } from './agenda.ts';
import { type Quantile, quantileOf } from './distribution.ts';
import { Lane } from './lane.ts';
import { loadShare, RolloutPlans, updateShare } from './plan.ts';
import { type SimulationEnd, type SimulationOptions, workPlanOf } from './simulation_options.ts';
import { Staleness } from './staleness.ts';
import { VirtualTrainer } from './trainer.ts';
import { VirtualWorkers } from './workers.ts';
import { secondsOfRollout } from './workload.ts';

const EVENTS_A_TURN = 100_000;

/** No rollout is shorter: there are hours to be simulated. */
const LEAST_SECONDS = 0.001;

/**
 * Runs a workload on a virtual clock: the scheduler is the real one; desktops, workers and trainer are their latencies.
 * The same options give the same end, to the last bit.
 * @throws DartError where rollouts take no time.
 */
export async function simulate(options: SimulationOptions): Promise<SimulationEnd> {
  const { workload } = options;
  const seconds = secondsOfRollout(workload);
  if (seconds < LEAST_SECONDS) {
    throw new DartError(`a rollout of this workload takes ${seconds} s: the virtual clock would never get on`, {
      where: workload.name,
      hint: 'times in seconds, not all of them 0, in latency.reset, step, inference and evaluation',
    });
  }
  return new Simulation(options).run();
}

/**
 * Desktops, workers and trainer as actors of two agendas: that of the desktops, and that of the workers, with the trainer
 * after the last of them. A desktop of which no moment is set waits: for a reply, for a worker, or for work.
 */
class Simulation {
  readonly #options: SimulationOptions;
  readonly #desktops: Agenda;
  readonly #machines: Agenda;
  readonly #lanes: Lane[];
  readonly #workers: VirtualWorkers;
  readonly #trainer: VirtualTrainer;
  readonly #scheduler: Scheduler;
  readonly #progress: TaskProgress;
  /** Whether anything is planned by how tasks fare. */
  readonly #dynamic: boolean;
  readonly #plans: RolloutPlans;
  readonly #random: Random;
  readonly #latency: Record<'reset' | 'step' | 'inference' | 'evaluation', Quantile>;
  readonly #staleness = new Staleness();
  /** Rollouts of each group that are not over. */
  readonly #open = new Map<string, { left: number; oldest: number }>();
  /** Desktops that have asked for work and have had no answer. */
  #asking = 0;
  /** Between two batches: the scheduler waits for the trainer. */
  #coupling = false;
  #answers: { lane: Lane; item: WorkItem | null }[] = [];
  #now = 0;
  #ended = { trajectories: 0, actions: 0 };
  #busy = 0;
  #finished = 0;

  constructor(options: SimulationOptions) {
    const { workload, desktops, workers, seed } = options;
    const { latency } = workload;
    const [update, load] = [quantileOf(latency.update.distribution), quantileOf(latency.load.distribution)];
    this.#options = options;
    this.#random = new Random(`${seed}/latencies`);
    this.#plans = new RolloutPlans(workload);
    this.#latency = {
      reset: quantileOf(latency.reset.distribution),
      step: quantileOf(latency.step.distribution),
      inference: quantileOf(latency.inference.distribution),
      evaluation: quantileOf(latency.evaluation.distribution),
    };
    this.#desktops = new Agenda(desktops);
    this.#machines = new Agenda(workers + 1);
    this.#lanes = Array.from({ length: desktops }, (_, index) => new Lane(index));
    this.#workers = new VirtualWorkers({
      count: workers,
      slowdown: workload.slowdown.table,
      sync: options.sync,
      load: (version, worker) => load(loadShare(seed, version, worker)),
      setMoment: (worker, at) => this.#machines.set(worker, at),
      onReply: (lane, version, now) => this.#replied(this.#lanes[lane]!, version, now),
      onLoaded: (version) => this.#trainer.loaded(version),
    });
    this.#trainer = new VirtualTrainer({
      groups: workload.batch_groups.value,
      update: (version) => update(updateShare(seed, version)),
      setMoment: (at) => this.#machines.set(workers, at),
      onPublished: (version, now) => this.#workers.sync(version, now),
      staleness: this.#staleness,
    });
    this.#progress = new TaskProgress(16);
    const plan = workPlanOf(options);
    this.#dynamic = plan.dynamicRollouts || plan.dynamicLength;
    this.#scheduler = schedulerOf(plan, {
      progress: this.#progress,
      desktops,
      between: () => this.#coupled(),
    });
  }

  async run(): Promise<SimulationEnd> {
    const { seconds, updates = Number.POSITIVE_INFINITY } = this.#options;
    for (const lane of this.#lanes) this.#ask(lane);
    await this.#answered();
    for (let events = 1; this.#workers.version < updates; events++) {
      if (events % EVENTS_A_TURN === 0) await this.#turn();
      const next = Math.min(this.#desktops.next, this.#machines.next);
      if (next > seconds) {
        this.#now = seconds;
        break;
      }
      this.#now = next;
      if (this.#machines.next <= next) this.#onMachine(this.#machines.first);
      else this.#onDesktop(this.#lanes[this.#desktops.take()]!);
      if (this.#asking > 0) await this.#answered();
    }
    return this.#end();
  }

  /** Virtual time never waits; without this neither would anything else in the process get its turn. */
  async #turn(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#options.signal?.throwIfAborted();
  }

  #onMachine(machine: number): void {
    if (machine < this.#options.workers) this.#workers.due(machine, this.#now);
    else this.#trainer.due(this.#now);
  }

  #draw(quantile: Quantile): number {
    return quantile(1 - (this.#random.uint32() + 0.5) / 2 ** 32);
  }

  /** Asks the scheduler, as a desktop's lane does: the answer may take a turn of its queue, or the end of a batch. */
  #ask(lane: Lane): void {
    this.#asking += 1;
    void this.#scheduler.next().then((item) => {
      this.#asking -= 1;
      this.#answers.push({ lane, item });
    });
  }

  /** Lets the scheduler answer all that it can answer without time going on. */
  async #answered(): Promise<void> {
    do {
      while (this.#asking > 0 && !this.#scheduler.waiting && !this.#coupling) await null;
      const answers = this.#answers;
      this.#answers = [];
      for (const { lane, item } of answers) if (item) this.#begin(lane, item);
    } while (this.#answers.length > 0);
  }

  #begin(lane: Lane, item: WorkItem): void {
    const { group, rolloutIndex } = item;
    this.#options.onItem?.('begins', item);
    const plan = this.#plans.of(group.group_id, rolloutIndex);
    lane.begin(item, plan, this.#workers.version, this.#now);
    if (!this.#open.has(group.group_id)) {
      this.#open.set(group.group_id, { left: group.size, oldest: Number.POSITIVE_INFINITY });
    }
    this.#desktops.set(lane.index, this.#now + this.#draw(this.#latency.reset));
  }

  /** What the desktop was at is done. */
  #onDesktop(lane: Lane): void {
    switch (lane.phase) {
      case 'resetting':
      case 'acting':
        if (lane.atLimit) this.#evaluate(lane);
        else this.#think(lane);
        return;
      case 'evaluating':
        this.#over(lane);
    }
  }

  #think(lane: Lane): void {
    lane.phase = 'asking';
    this.#workers.ask(lane.index, this.#draw(this.#latency.inference), this.#now);
  }

  #replied(lane: Lane, version: number, now: number): void {
    lane.took(version);
    if (lane.done) {
      this.#evaluate(lane);
      return;
    }
    lane.phase = 'acting';
    this.#desktops.set(lane.index, now + this.#draw(this.#latency.step));
  }

  #evaluate(lane: Lane): void {
    lane.phase = 'evaluating';
    this.#desktops.set(lane.index, this.#now + this.#draw(this.#latency.evaluation));
  }

  #over(lane: Lane): void {
    const item = lane.item!;
    this.#options.onItem?.('ends', item);
    this.#ended.trajectories += 1;
    this.#ended.actions += lane.steps;
    this.#busy += this.#now - lane.since;
    if (this.#dynamic) this.#progress.observe(lane.result());
    lane.item = null;
    this.#groupOver(item.group, lane.oldest);
    this.#scheduler.done(item);
    this.#ask(lane);
  }

  #groupOver({ group_id }: Group, version: number): void {
    const group = this.#open.get(group_id)!;
    group.left -= 1;
    group.oldest = Math.min(group.oldest, version);
    if (group.left > 0) return;
    this.#open.delete(group_id);
    this.#finished += 1;
    if (this.#options.train !== false) this.#trainer.take(group.oldest, this.#now);
  }

  /** Between two batches: until the version learned from the last one is loaded. */
  async #coupled(): Promise<void> {
    if (this.#options.train === false) return;
    await new Promise<void>((resolve) => {
      this.#coupling = true;
      this.#trainer.whenLoaded(() => {
        this.#coupling = false;
        resolve();
      });
    });
  }

  #end(): SimulationEnd {
    const { desktops, workers } = this.#options;
    const live = this.#lanes.reduce((sum, lane) => sum + (lane.item ? this.#now - lane.since : 0), 0);
    return {
      usage: {
        seconds: this.#now,
        desktop_held_s: desktops * this.#now,
        desktop_busy_s: this.#busy + live,
        worker_held_s: workers * this.#now,
        worker_busy_s: this.#workers.busySeconds(this.#now),
        ...this.#ended,
      },
      updates: this.#workers.version,
      groups: { finished: this.#finished, learned: this.#trainer.learned },
      staleness: this.#staleness,
    };
  }
}
