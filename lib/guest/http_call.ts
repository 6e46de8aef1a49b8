import type { Guest } from './guest.ts';
import type { Body } from './http_fields.ts';
import type { Lanes } from './http_lanes.ts';

/** What a served desktop remembers between requests. */
export interface DeskState {
  recording: boolean;
}

/** One request, read. */
export interface Call {
  guest: Guest;
  /** Fields of a JSON or form body. */
  body: Body;
  /** Aborted when the client has left or the desktop is reset. */
  signal: AbortSignal;
  lanes: Lanes;
  state: DeskState;
  /** Whether `/setup/download_file` may fetch: where this process is in the desktop's network. */
  downloads: boolean;
}

export type Reply = { status?: number; json: unknown } | { status?: number; bytes: Uint8Array; type: string };

export type Handler = (call: Call) => Promise<Reply>;

/** A plain text as an answer. */
export function say(message: string): Reply {
  return { bytes: new TextEncoder().encode(message), type: 'text/plain; charset=utf-8' };
}
