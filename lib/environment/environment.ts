import type { Guest } from '../guest/guest.ts';

/** Waits of OSWorld's protocol (design §5), in milliseconds; all zero for a desktop that answers at once. */
export interface ProtocolWaits {
  afterResetMs: number;
  afterActionMs: number;
  beforeEvaluateMs: number;
}

export const NO_WAITS: ProtocolWaits = { afterResetMs: 0, afterActionMs: 0, beforeEvaluateMs: 0 };

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
