/** An object of the API, as far as the contract server looks into it. */
export interface Stored {
  apiVersion?: string;
  kind?: string;
  metadata: {
    name: string;
    namespace: string;
    uid: string;
    resourceVersion: string;
    creationTimestamp: string;
    deletionTimestamp?: string;
    labels?: Record<string, string>;
    ownerReferences?: { uid: string }[];
  };
  spec?: unknown;
  status?: unknown;
}

export interface WatchEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: unknown;
}

/** Objects with versions, and what happened to them since some version: etcd, as the API server shows it. */
export class ObjectStore {
  readonly objects = new Map<string, Stored>();
  readonly #history: { version: number; resource: string; event: WatchEvent }[] = [];
  readonly #listeners = new Set<(resource: string, event: WatchEvent) => void>();
  #version = 1000;
  #oldest = 0;
  #uids = 0;

  get version(): string {
    return String(this.#version);
  }

  list(resource: string, selector: string): Stored[] {
    const chosen = [...this.objects].filter(([key]) => key.startsWith(`${resource}/`)).map(([, object]) => object);
    return chosen.filter((object) => selects(selector, object));
  }

  get(resource: string, name: string): Stored | undefined {
    return this.objects.get(`${resource}/${name}`);
  }

  create(resource: string, object: Stored, namespace: string): Stored {
    this.#uids += 1;
    const made: Stored = {
      ...object,
      metadata: {
        ...object.metadata,
        namespace,
        uid: `uid-${this.#uids}`,
        creationTimestamp: new Date().toISOString().replace(/\.\d+Z/, 'Z'),
        resourceVersion: '',
      },
    };
    this.#put(resource, made, 'ADDED');
    return made;
  }

  /** Changes an object in place of its older self; nothing happens where it is gone. */
  update(resource: string, name: string, change: (object: Stored) => void): Stored | undefined {
    const old = this.get(resource, name);
    if (!old) return undefined;
    const changed = structuredClone(old);
    change(changed);
    this.#put(resource, changed, 'MODIFIED');
    return changed;
  }

  remove(resource: string, name: string): void {
    const old = this.get(resource, name);
    if (!old) return;
    this.objects.delete(`${resource}/${name}`);
    this.#version += 1;
    const last = structuredClone(old);
    last.metadata.resourceVersion = this.version;
    this.#tell(resource, { type: 'DELETED', object: last });
    // What belonged to it goes along.
    for (const kind of ['pods', 'leases']) {
      for (const { metadata } of this.list(kind, '')) {
        const owners = metadata.ownerReferences ?? [];
        if (owners.length > 0 && owners.every(({ uid }) => uid === old.metadata.uid)) this.remove(kind, metadata.name);
      }
    }
  }

  /** Forgets what happened up to now: a watch from an older version gets 410. */
  compact(): void {
    this.#version += 1;
    this.#oldest = this.#version;
    this.#history.length = 0;
  }

  /** What happened after `version`, then what happens; null where that is forgotten. */
  follow(version: string, selector: string, resource: string, tell: (event: WatchEvent) => void): (() => void) | null {
    if (Number(version) < this.#oldest) return null;
    const pass = (kind: string, event: WatchEvent) => {
      if (kind === resource && selects(selector, event.object as Stored)) tell(event);
    };
    for (const past of this.#history) if (past.version > Number(version)) pass(past.resource, past.event);
    this.#listeners.add(pass);
    return () => this.#listeners.delete(pass);
  }

  #put(resource: string, object: Stored, type: 'ADDED' | 'MODIFIED'): void {
    this.#version += 1;
    object.metadata.resourceVersion = this.version;
    this.objects.set(`${resource}/${object.metadata.name}`, object);
    this.#tell(resource, { type, object: structuredClone(object) });
  }

  #tell(resource: string, event: WatchEvent): void {
    this.#history.push({ version: this.#version, resource, event });
    for (const listener of [...this.#listeners]) listener(resource, event);
  }
}

function selects(selector: string, { metadata }: Stored): boolean {
  return selector.split(',').every((part) => {
    const [key = '', value] = part.split('=');
    return key === '' || metadata.labels?.[key] === value;
  });
}
