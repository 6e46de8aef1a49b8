import { DartError } from '../errors.ts';
import type { ExecuteResult } from '../guest/guest.ts';
import type { Driver } from './environment.ts';

/** One option of a kind of desktop: `name=VALUE` in `--env`, `--name VALUE` of `dart-env up`. */
export interface KindOption {
  /** Lower case with hyphens, the same in both places. */
  name: string;
  /** `bytes` takes `512m`, `4g`; `boolean` is `name` or `name=true`; `list` may be given several times. */
  type: 'string' | 'integer' | 'number' | 'bytes' | 'boolean' | 'list';
  /** Stands for the value in help: `IMAGE`, `MS`. */
  value?: string;
  choices?: readonly string[];
  default?: string | number | boolean;
  min?: number;
  max?: number;
  describe: string;
  /** It says where desktops of this kind run: `dart-env list`, `down`, `logs` and `exec` take it too. */
  fleet?: boolean;
}

/** Values by option name: what was given, or the default; absent where there is neither. Bytes are numbers. */
export type KindValues = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** What a driver is told besides its own options. */
export interface OpenOptions {
  /** Desktops of one run carry this name (`dart.run=<id>` on containers). */
  runId: string;
  /** They outlive this process: nothing removes them but `dart-env down`. */
  detach?: boolean;
  /** A line for people about something that takes long: an image that is being looked up, a boot. */
  tell?: (line: string) => void;
}

/** One kind of desktop. Its file holds this table only; what it needs to run is loaded by `open` and `fleet`. */
export interface DriverKind {
  /** `docker` */
  readonly name: string;
  readonly summary: string;
  readonly options: readonly KindOption[];
  /** Whether its desktops can outlive the process that started them (`dart-env up --detach`); else why not. */
  readonly detachable: true | string;
  /** @throws DartError where the values alone do not go together, or one is missing that it needs: for a dry run. */
  check?(values: KindValues): Promise<void>;
  /** @throws DartError where this machine lacks something, or the values do not go together, with the next step. */
  open(count: number, values: KindValues, options: OpenOptions): Promise<Driver>;
  /** The desktops of this kind on this machine or cluster, whoever started them; absent where there can be none. */
  fleet?(values: KindValues): Promise<Fleet>;
}

/**
 * This machine was never set up for a kind, so that nobody has desktops of it here: worth a word only to those who asked
 * for the kind, or for a desktop that is nowhere.
 */
export class NotSetUp extends DartError {}

/** A desktop that some `dart-env up` or `dart-rollout` has started. */
export interface FleetMember {
  /** `env_id` of its record. */
  id: string;
  driver: string;
  run: string;
  state: 'starting' | 'ready' | 'exited';
  server_url: string | null;
  /** ISO 8601 UTC. */
  created_at: string;
  /** Started with `--detach`: nobody has to be there for it. */
  detached: boolean;
  /** Neither detached nor owned by a process that lives: `dart-env down --orphans` removes it. */
  orphan: boolean;
}

/** Where what a program prints goes as it comes; what has gone there is not in the result again. */
export interface ExecSinks {
  stdout(text: string): Promise<void>;
  stderr(text: string): Promise<void>;
}

/** The exit code of shells for a program that there is not. */
export const NO_PROGRAM = 127;

/** What a program that there is not comes to. */
export function noProgram(command: readonly string[]): ExecuteResult {
  return { output: '', error: `there is no program ${command[0]} in the desktop\n`, returncode: NO_PROGRAM };
}

/** What can be done with desktops from outside the process that started them. */
export interface Fleet {
  list(): Promise<FleetMember[]>;
  /** Removes it with everything that belongs to it. No such desktop any more is no error. */
  remove(member: FleetMember): Promise<void>;
  /** What it has logged, as text in pieces; with `follow` until the signal or its end. */
  logs(member: FleetMember, options: { follow?: boolean; tail?: number; signal?: AbortSignal }): AsyncIterable<string>;
  /**
   * Runs a program in it, without input. One that there is not is a result (`noProgram`). Kinds that hear of output only
   * at the end leave `sinks` alone.
   */
  exec(member: FleetMember, command: readonly string[], sinks?: ExecSinks): Promise<ExecuteResult>;
  close(): Promise<void>;
}
