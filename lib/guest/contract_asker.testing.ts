import { setTimeout as sleep } from 'node:timers/promises';

/** What a guest may lack: every check that needs more than OSWorld's endpoints themselves names one of these. */
export type Capability =
  /** Real Python: code beyond lists of pyautogui calls. */
  | 'python'
  /** Programs that run by themselves and take time; a shell with loops. */
  | 'processes'
  | 'recording'
  /** A picture from a file behind the windows. */
  | 'wallpaper'
  /** `/setup/download_file`. */
  | 'download'
  /** `POST /reset`, of our own. */
  | 'reset'
  /** An application that opens a `.txt` file for editing, in which ctrl a selects all and ctrl s saves. */
  | 'editor';

/** A server that runs. */
export interface ServedGuest {
  url: string;
  token?: string;
  /** Where the desktop itself reaches its server; `url` where it is absent. */
  ownUrl?: string;
  close?: () => Promise<void>;
}

export interface Answer {
  status: number;
  type: string;
  bytes: Uint8Array<ArrayBuffer>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server sends is looked at by the checks
  json: any;
}

/** What checks ask with. */
export interface Asker {
  get(path: string): Promise<Answer>;
  post(path: string, body?: Record<string, unknown> | FormData | URLSearchParams): Promise<Answer>;
  fetch(path: string, init: RequestInit): Promise<Answer>;
  upload(path: string, data: Uint8Array<ArrayBuffer> | string): Promise<Answer>;
  /** A folder of the checks' own in the desktop's home. */
  folder(): Promise<string>;
  served(): ServedGuest;
}

/** Asks again until the answer is as it should be, and gives the last one when a minute is over. */
export async function until<T>(ask: () => Promise<T>, good: (value: T) => boolean, limitMs = 60_000): Promise<T> {
  for (const end = performance.now() + limitMs; ; await sleep(100)) {
    const value = await ask();
    if (good(value) || performance.now() > end) return value;
  }
}

/** Asks the server that `served` gives. */
export function asker(served: () => ServedGuest): Asker {
  const fetched = async (path: string, init: RequestInit): Promise<Answer> => {
    const { url, token } = served();
    const headers = new Headers(init.headers);
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
    const response = await fetch(url + path, { ...init, headers });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const type = response.headers.get('content-type') ?? '';
    const text = new TextDecoder().decode(bytes);
    return { status: response.status, type, bytes, text, json: type.includes('json') ? JSON.parse(text) : undefined };
  };
  const ask: Asker = {
    served,
    fetch: fetched,
    get: (path) => fetched(path, {}),
    post: (path, body = {}) => {
      if (body instanceof FormData || body instanceof URLSearchParams) return fetched(path, { method: 'POST', body });
      const headers = { 'content-type': 'application/json' };
      return fetched(path, { method: 'POST', body: JSON.stringify(body), headers });
    },
    upload: (path, data) => {
      const form = new FormData();
      form.set('file_path', path);
      form.set('file_data', new Blob([data]), 'file');
      return ask.post('/setup/upload', form);
    },
    folder: async () => {
      const { desktop_path } = (await ask.post('/desktop_path')).json;
      return `${String(desktop_path).replace(/\/[^/]*$/, '')}/contract`;
    },
  };
  return ask;
}
