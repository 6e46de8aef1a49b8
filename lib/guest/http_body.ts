import type { IncomingMessage } from 'node:http';

/** Bytes that a request may carry: with files, and without. */
const MAX_UPLOAD = 256 * 1024 * 1024;
const MAX_FIELDS = 32 * 1024 * 1024;

/** A complaint about the request rather than the desktop. */
export class BadRequest extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Fields of a request: JSON, a form, or a form with files (their bytes). */
export async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const type = request.headers['content-type'] ?? '';
  const files = /^multipart\/form-data/i.test(type);
  const bytes = await readBytes(request, files ? MAX_UPLOAD : MAX_FIELDS);
  if (bytes.length === 0) return {};
  if (files || /^application\/x-www-form-urlencoded/i.test(type)) return readForm(bytes, type);
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Said below, with the cases that are JSON but no object.
  }
  throw new BadRequest(400, 'the body must be a JSON object');
}

async function readBytes(request: IncomingMessage, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = () => new BadRequest(413, `the request is larger than ${limit} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  // Not destroyed with the loop: the answer takes the same connection.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw tooLarge();
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

async function readForm(bytes: Uint8Array<ArrayBuffer>, type: string): Promise<Record<string, unknown>> {
  const fields: Record<string, unknown> = {};
  try {
    const form = await new Response(bytes, { headers: { 'content-type': type } }).formData();
    for (const [name, value] of form)
      fields[name] = typeof value === 'string' ? value : new Uint8Array(await value.arrayBuffer());
  } catch {
    throw new BadRequest(400, 'the form cannot be read');
  }
  return fields;
}
