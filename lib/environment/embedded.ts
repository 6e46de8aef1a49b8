import type { ResettableGuest } from '../guest/guest.ts';
import { type Driver, type Environment, NO_WAITS } from './environment.ts';

/** Desktops in this process, ready at once (design §5). */
export class EmbeddedDriver implements Driver {
  readonly name = 'embedded';
  readonly capacity: number;
  readonly #create: (id: string, place: number) => ResettableGuest;

  constructor(capacity: number, create: (id: string, place: number) => ResettableGuest) {
    this.capacity = capacity;
    this.#create = create;
  }

  async start(place: number, id: string): Promise<Environment> {
    const guest = this.#create(id, place);
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
