import type { IncomingMessage } from 'node:http';

/** Bytes that a request may carry. */
const MAX_BODY = 256 * 1024 * 1024;

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
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY) throw new BadRequest(413, 'the request is too large');
    chunks.push(chunk);
  }
  const type = request.headers['content-type'] ?? '';
  const bytes = Buffer.concat(chunks);
  if (bytes.length === 0) return {};
  if (type.startsWith('multipart/form-data') || type.startsWith('application/x-www-form-urlencoded'))
    return readForm(bytes, type);
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Said below, with the cases that are JSON but no object.
  }
  throw new BadRequest(400, 'the body must be a JSON object');
}

async function readForm(bytes: Buffer, type: string): Promise<Record<string, unknown>> {
  const fields: Record<string, unknown> = {};
  try {
    const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
    for (const [name, value] of form)
      fields[name] = typeof value === 'string' ? value : new Uint8Array(await value.arrayBuffer());
  } catch {
    throw new BadRequest(400, 'the form cannot be read');
  }
  return fields;
}
