import { DartError } from '../errors.ts';
import { type Env, SCHEMA_VERSION } from '../stream/records.ts';
import type { DriverKind, Fleet, FleetMember, KindValues } from './kind.ts';

/** A desktop that some command has started, and the fleet that knows what to do with it. */
export interface Found {
  fleet: Fleet;
  member: FleetMember;
}

/** A kind to be looked at, with the values that say where its desktops run. */
export interface Asked {
  kind: DriverKind;
  values: KindValues;
}

/** The desktops of several kinds, whoever started them. */
export class Fleets {
  readonly #fleets: readonly Fleet[];
  readonly #found: readonly Found[];

  private constructor(fleets: readonly Fleet[], found: readonly Found[]) {
    this.#fleets = fleets;
    this.#found = found;
  }

  /**
   * Looks at the kinds. One that cannot be looked at is told of, and costs nothing else.
   * @throws DartError where none of them can be.
   */
  static async open(asked: readonly Asked[], tell: (kind: string, error: unknown) => void): Promise<Fleets> {
    const looks = await Promise.allSettled(asked.filter(({ kind }) => kind.fleet).map(look));
    const seen = looks.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
    const errors = looks.flatMap((end, i) => (end.status === 'rejected' ? [{ ...asked[i]!, error: end.reason }] : []));
    if (seen.length === 0 && errors.length > 0) throw errors[0]!.error;
    for (const { kind, error } of errors) tell(kind.name, error);
    const found = seen.flatMap(({ fleet, members }) => members.map((member) => ({ fleet, member })));
    found.sort(
      (a, b) => a.member.created_at.localeCompare(b.member.created_at) || a.member.id.localeCompare(b.member.id),
    );
    return new Fleets(
      seen.map(({ fleet }) => fleet),
      found,
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
    throw new DartError('no desktop of this name', { where: id, hint: 'dart-env list' });
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
