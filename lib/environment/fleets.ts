import { DartError } from '../errors.ts';
import { type Env, SCHEMA_VERSION } from '../stream/records.ts';
import { type DriverKind, type Fleet, type FleetMember, type KindValues, NotSetUp } from './kind.ts';

/** A desktop that some command has started, and the fleet that knows what to do with it. */
export interface Found {
  fleet: Fleet;
  member: FleetMember;
}

/** A kind to be looked at, with the values that say where its desktops run. */
export interface Asked {
  kind: DriverKind;
  values: KindValues;
  /** Its own options were given: that it cannot be looked at is a failure. */
  wanted?: boolean;
}

/** The desktops of several kinds, whoever started them. */
export class Fleets {
  readonly #fleets: readonly Fleet[];
  readonly #found: readonly Found[];
  /** Kinds that this machine is not set up for, and why. */
  readonly #unseen: readonly string[];

  private constructor(fleets: readonly Fleet[], found: readonly Found[], unseen: readonly string[]) {
    this.#fleets = fleets;
    this.#found = found;
    this.#unseen = unseen;
  }

  /**
   * Looks at the kinds. One that cannot be looked at is told of, and costs nothing else.
   * @throws DartError where none of them can be.
   */
  static async open(asked: readonly Asked[], tell: (kind: string, error: unknown) => void): Promise<Fleets> {
    const shown = asked.filter(({ kind }) => kind.fleet);
    const looks = await Promise.allSettled(shown.map(look));
    const seen = looks.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
    const errors = looks.flatMap((end, i) => (end.status === 'rejected' ? [{ ...shown[i]!, error: end.reason }] : []));
    const failure = errors.find(({ wanted }) => wanted) ?? (seen.length === 0 ? errors[0] : undefined);
    if (failure) {
      await Promise.all(seen.map(({ fleet }) => fleet.close()));
      throw failure.error;
    }
    for (const { kind, error } of errors) if (!(error instanceof NotSetUp)) tell(kind.name, error);
    const found = seen.flatMap(({ fleet, members }) => members.map((member) => ({ fleet, member })));
    found.sort(
      (a, b) => a.member.created_at.localeCompare(b.member.created_at) || a.member.id.localeCompare(b.member.id),
    );
    return new Fleets(
      seen.map(({ fleet }) => fleet),
      found,
      errors.flatMap(({ kind, error }) => (error instanceof NotSetUp ? [`${kind.name}: ${error.message}`] : [])),
    );
  }

  /** All of them, the oldest first. */
  get all(): readonly Found[] {
    return this.#found;
  }

  /** @throws DartError where there is none of this name. */
  named(id: string): Found {
    const found = this.#found.find(({ member }) => member.id === id);
    if (found) return found;
    const unseen = this.#unseen.length === 0 ? '' : ` (not looked at: ${this.#unseen.join('; ')})`;
    throw new DartError(`no desktop of this name${unseen}`, { where: id, hint: 'dart-env list' });
  }

  async close(): Promise<void> {
    await Promise.all(this.#fleets.map((fleet) => fleet.close()));
  }
}

async function look({ kind, values }: Asked): Promise<{ fleet: Fleet; members: FleetMember[] }> {
  const fleet = await kind.fleet!(values);
  try {
    return { fleet, members: await fleet.list() };
  } catch (error) {
    await fleet.close();
    throw error;
  }
}

/** A desktop of a fleet as a record; its screen where it is known. */
export function memberRecord(member: FleetMember, screen: Env['screen'] = { width: 0, height: 0 }): Env {
  const { id, driver, run, state, server_url, created_at, detached, orphan } = member;
  return {
    ...{ type: 'env', v: SCHEMA_VERSION, env_id: id, driver, state: state === 'exited' ? 'stopped' : state },
    ...{ server_url, screen, boot_ms: 0, run_id: run, created_at, detached, orphan },
  };
}
