import type { IncomingMessage } from 'node:http';
import { badRequest, Refusal } from './refusal.ts';

/** Five screenshots of a large screen, and some. */
const MAX_BODY = 128 * 1024 * 1024;

/**
 * The body of a request, which must say that it is JSON: a browser does not send that to another site without asking.
 * @throws Refusal
 */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
    throw new Refusal(415, 'invalid_request_error', 'the body must be application/json');
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY) throw new Refusal(413, 'invalid_request_error', 'the request is too large');
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw badRequest('the body is no JSON');
  }
}
