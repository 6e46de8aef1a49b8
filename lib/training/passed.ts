import { counted } from '../stream/counted.ts';

/** Which types of records came: where no sample is among them, the wrong thing was piped in. */
export class PassedRecords {
  readonly #types = new Map<string, number>();

  count(type: string): void {
    this.#types.set(type, (this.#types.get(type) ?? 0) + 1);
  }

  /** A sentence for people where not one sample came; null where one did. */
  describe(): string | null {
    if (this.#types.has('sample')) return null;
    const passed = [...this.#types].map(([type, n]) => counted(n, `${type} record`)).join(', ');
    const what = `no sample record came${passed === '' ? '' : `; ${passed} passed`}`;
    return this.#types.has('trajectory') ? `${what}. Try: dart-curate … | dart-train` : what;
  }
}
