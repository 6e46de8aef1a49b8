import type { ResettableGuest } from '../guest/guest.ts';
import { type Driver, type Environment, NO_WAITS } from './environment.ts';
import { type LatencyModel, withLatency } from './latency.ts';

/** Desktops in this process, ready at once (design §5). */
export class EmbeddedDriver implements Driver {
  readonly name = 'embedded';
  readonly capacity: number;
  readonly #create: (id: string) => ResettableGuest;
  readonly #latency: LatencyModel | null;

  constructor(capacity: number, create: (id: string) => ResettableGuest, latency: LatencyModel | null = null) {
    this.capacity = capacity;
    this.#create = create;
    this.#latency = latency;
  }

  async start(_place: number, id: string): Promise<Environment> {
    const bare = this.#create(id);
    const guest = this.#latency ? withLatency(bare, this.#latency) : bare;
    return {
      id,
      driver: this.name,
      guest,
      waits: NO_WAITS,
      reset: (seed) => guest.reset(seed),
      close: () => guest.close(),
    };
  }
}
