import { DartError, messageOf } from '../../errors.ts';

/** What was asked of the API server, as RBAC names it. */
export interface ApiCall {
  verb: 'create' | 'get' | 'list' | 'watch' | 'delete' | 'patch' | 'update';
  /** `pods`, `pods/log`, `leases`. */
  resource: string;
  name?: string;
}

/** A WebSocket that is refused throws an event; the error is inside. */
export function unwrapped(thrown: unknown): unknown {
  if (thrown instanceof Error || typeof thrown !== 'object' || thrown === null) return thrown;
  const inner: unknown = 'error' in thrown ? thrown.error : undefined;
  if (inner instanceof Error) return inner;
  return 'message' in thrown ? new Error(String(thrown.message)) : thrown;
}

/** The HTTP status of what the client threw; null where no answer came. */
export function statusOf(error: unknown): number | null {
  for (const field of ['code', 'statusCode']) {
    const value: unknown = error instanceof Error && field in error ? Reflect.get(error, field) : undefined;
    if (typeof value === 'number' && value >= 100) return value;
  }
  // A refused WebSocket says it in words only.
  const words = /Unexpected server response: (\d{3})/.exec(messageOf(error));
  return words ? Number(words[1]) : null;
}

/** What the server wants us to wait before the next try, ms; null where it does not say. */
export function retryAfterOf(error: unknown): number | null {
  const headers: unknown = error instanceof Error && 'headers' in error ? error.headers : undefined;
  if (typeof headers !== 'object' || headers === null) return null;
  const value: unknown = Reflect.get(headers, 'retry-after');
  const seconds = Number(value);
  return typeof value === 'string' && Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : null;
}

/** The server's own sentence (`message` of its Status). */
export function serverMessage(error: unknown): string {
  const body: unknown = error instanceof Error && 'body' in error ? error.body : undefined;
  const value = typeof body === 'string' ? parsed(body) : body;
  if (typeof value === 'object' && value !== null && 'message' in value) return String(value.message);
  return '';
}

/** An error of the API server, or of the way to it, as a DartError with the next step. */
export function apiError(error: unknown, call: ApiCall, namespace: string, server: string): DartError {
  if (error instanceof DartError) return error;
  const what = `${call.verb} ${call.resource}${call.name ? ` ${call.name}` : ''}`;
  const where = `namespace ${namespace}`;
  const said = serverMessage(error);
  const because = said === '' ? '' : `: ${said}`;
  const fail = (message: string, hint: string) => new DartError(message, { where, hint, cause: error });
  switch (statusOf(error)) {
    case 401:
      return fail(
        `the cluster does not know who we are${because}`,
        'kubectl auth whoami; a fresh login of the kubeconfig',
      );
    case 403:
      if (/quota/i.test(said)) return fail(`the namespace's quota is used up${because}`, 'fewer or smaller desktops');
      if (/PodSecurity/.test(said)) return fail(`the namespace's Pod Security forbids it${because}`, '--restricted');
      return fail(
        `the cluster does not allow us to ${call.verb} ${call.resource}${because}`,
        `${verbsOf(call)} on "${call.resource}" in a Role: docs/kubernetes/rbac.yaml has all that is needed`,
      );
    case 404:
      return fail(`${what} failed: there is no such thing${because}`, '--namespace; kubectl get namespaces');
    case 422:
    case 400:
      return fail(
        `the cluster does not take it (${what})${because}`,
        'the options of the pods: --label, --env, --image',
      );
    case 429:
      return fail(`the cluster is too busy for us (${what})${because}`, 'less with --qps and --parallel');
    case null:
      return fail(`the cluster at ${server} does not answer: ${reasonOf(error)}`, 'kubectl cluster-info; --context');
    default:
      return fail(`${what} failed with status ${statusOf(error)}${because}`, 'kubectl cluster-info');
  }
}

/** A WebSocket begins as a GET; since Kubernetes 1.35 it wants the permission of a POST too. */
function verbsOf({ verb, resource }: ApiCall): string {
  return /exec|portforward/.test(resource) ? 'verbs "get" and "create"' : `verb "${verb}"`;
}

/** The innermost reason: `fetch failed` alone says nothing. */
export function reasonOf(error: unknown): string {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Error) return reasonOf(cause);
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  const message = messageOf(error);
  return typeof code === 'string' && !message.includes(code) ? `${code} ${message}`.trim() : message;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
