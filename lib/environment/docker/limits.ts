import type Docker from 'dockerode';
import { DartError } from '../../errors.ts';

/** How long Docker may take to answer a question, ms. */
const ANSWER_MS = 30_000;
/** To remove a container: it is ended first, and what it has written goes. */
const REMOVE_MS = 60_000;
/** To make, start or stop one: many at once on a slow disk take their time. */
const WORK_MS = 300_000;
/** What takes as long as it takes: the end of a container, a program in it, a build, a pull. */
const ENDLESS = [/\/wait$/, /^\/exec\/[^/]+\/start$/, /^\/build$/, /^\/images\/create$/, /^\/images\/[^/]+\/push$/];

interface Dialled {
  path: string;
  method: string;
  options?: { follow?: boolean };
  abortSignal?: AbortSignal;
}
type Told = (error: unknown, answer?: unknown) => void;

/**
 * The same Docker; a call that it does not answer in time fails, in place of waiting for ever: a daemon may take
 * connections and be stuck.
 * @param answerMs Limit for a question, in place of the usual; those for work change with it.
 */
export function limited(docker: Docker, answerMs = ANSWER_MS): Docker {
  const modem = docker.modem as { dial(call: Dialled, told: Told): void };
  const dial = modem.dial.bind(modem);
  modem.dial = (call, told) => {
    const limitMs = limitOf(call, answerMs);
    if (limitMs === null) return dial(call, told);
    const late = new AbortController();
    const given = call.abortSignal;
    const abort = () => late.abort(given?.reason);
    const timer = setTimeout(() => late.abort(noAnswer(limitMs)), limitMs);
    given?.addEventListener('abort', abort, { once: true });
    if (given?.aborted) abort();
    dial({ ...call, abortSignal: late.signal }, (error, answer) => {
      clearTimeout(timer);
      given?.removeEventListener('abort', abort);
      const { reason } = late.signal;
      told(error && reason instanceof DartError && !given?.aborted ? reason : error, answer);
    });
  };
  return docker;
}

/** Null: for ever. */
function limitOf({ path, method, options }: Dialled, answerMs: number): number | null {
  const place = path.replace(/\?.*$/, '');
  if (ENDLESS.some((endless) => endless.test(place))) return null;
  // The answer to who follows a log may begin with its next line.
  if (place.endsWith('/logs') && (options?.follow || /[?&]follow=(true|1)/.test(path))) return null;
  if (method === 'DELETE') return scaled(REMOVE_MS, answerMs);
  return /\/(start|stop|create)$/.test(place) ? scaled(WORK_MS, answerMs) : answerMs;
}

const scaled = (limitMs: number, answerMs: number) => (limitMs / ANSWER_MS) * answerMs;

function noAnswer(limitMs: number): DartError {
  return new DartError(`Docker does not answer within ${limitMs / 1000} s`, {
    where: 'docker',
    hint: 'docker info; if that hangs too, its daemon started anew (systemctl restart docker)',
  });
}
