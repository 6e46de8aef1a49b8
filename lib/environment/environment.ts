import { DartError } from '../errors.ts';
import type { Guest } from '../guest/guest.ts';

/** Waits of OSWorld's protocol (design §5), in milliseconds; all zero for a desktop that answers at once. */
export interface ProtocolWaits {
  afterResetMs: number;
  afterActionMs: number;
  beforeEvaluateMs: number;
}

export const NO_WAITS: ProtocolWaits = { afterResetMs: 0, afterActionMs: 0, beforeEvaluateMs: 0 };

/** OSWorld's runner waits so long for its virtual machines (reference/osworld.md §5). */
export const OSWORLD_WAITS: ProtocolWaits = { afterResetMs: 60_000, afterActionMs: 2_000, beforeEvaluateMs: 20_000 };

/** For our own image and Xvfb, whose session is up when a reset resolves: only programs need time (docs/decisions.md). */
export const SESSION_WAITS: ProtocolWaits = { afterResetMs: 2_000, afterActionMs: 500, beforeEvaluateMs: 1_000 };

/** One running desktop. */
export interface Environment {
  /** Unique among the desktops of the pool, also after replacements: `embedded-2`, `embedded-2r1`. */
  readonly id: string;
  readonly driver: string;
  readonly guest: Guest;
  readonly waits: ProtocolWaits;
  /** Where it answers; absent for a desktop in this process. One with a server runs on when the pool lets go of it. */
  readonly serverUrl?: string;
  /** Chrome's debugging port, VLC's web interface, noVNC, where it has them. */
  readonly cdpUrl?: string;
  readonly vlcUrl?: string;
  readonly vncUrl?: string;
  /** Good for one rollout: the pool replaces it after each lease that reset it, instead of resetting it again. */
  readonly disposable?: boolean;
  /** Back to a clean desktop; where the driver can, the one that `seed` describes. */
  reset(seed: number, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** The same desktop as another object; what `changes` has takes the place of what it had. */
export function sameDesktop(env: Environment, changes: Partial<Pick<Environment, 'waits' | 'reset'>>): Environment {
  const { id, driver, guest, waits, serverUrl, cdpUrl, vlcUrl, vncUrl } = env;
  return {
    ...{ id, driver, guest, waits, serverUrl, cdpUrl, vlcUrl, vncUrl },
    // What is known of some only after their first reset.
    get disposable() {
      return env.disposable;
    },
    reset: changes.reset ?? ((seed, signal) => env.reset(seed, signal)),
    close: () => env.close(),
    ...(changes.waits === undefined ? {} : { waits: changes.waits }),
  };
}

/**
 * Starts desktops of one kind. Docker, Xvfb, Kubernetes and servers that run already are drivers too: the pool knows
 * nothing else of them.
 */
export interface Driver {
  readonly name: string;
  /** How many desktops it can run at once. */
  readonly capacity: number;
  /** Starts desktop `id` for a place (0 … capacity − 1); resolves when it is ready to be leased. */
  start(place: number, id: string, signal?: AbortSignal): Promise<Environment>;
}

/** A desktop cannot be started, and another try would fail alike: its port is taken, its image missing. */
export class CannotStart extends DartError {}

/** A desktop cannot go back to a clean state, and nobody replaces it: trying again is of no use. */
export class DesktopUsedUp extends DartError {
  constructor(where: string) {
    super('this desktop was used and cannot go back to a clean state by itself', {
      where,
      hint: 'a driver that replaces desktops, such as --env embedded:4',
    });
    this.name = 'DesktopUsedUp';
  }
}
