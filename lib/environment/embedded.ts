import type { ResettableGuest } from '../guest/guest.ts';
import { type Driver, type Environment, NO_WAITS, type ProtocolWaits } from './environment.ts';

/** Desktops in this process, ready at once (design §5). */
export class EmbeddedDriver implements Driver {
  readonly name = 'embedded';
  readonly capacity: number;
  readonly #create: (id: string, place: number) => ResettableGuest;
  readonly #waits: (place: number) => ProtocolWaits;

  constructor(
    capacity: number,
    create: (id: string, place: number) => ResettableGuest,
    waits: (place: number) => ProtocolWaits = () => NO_WAITS,
  ) {
    this.capacity = capacity;
    this.#create = create;
    this.#waits = waits;
  }

  async start(place: number, id: string): Promise<Environment> {
    const guest = this.#create(id, place);
    return {
      id,
      driver: this.name,
      guest,
      waits: this.#waits(place),
      reset: (seed) => guest.reset(seed),
      close: () => guest.close(),
    };
  }
}
