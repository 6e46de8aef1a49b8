/** What a request is answered where it gets no reply, in OpenAI's form. */
export class Refusal extends Error {
  readonly status: number;
  readonly kind: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, kind: string, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.kind = kind;
    this.headers = headers;
  }

  get body() {
    return { error: { message: this.message, type: this.kind, param: null, code: this.status } };
  }
}

/** A request that can never be answered as it is. */
export function badRequest(message: string): Refusal {
  return new Refusal(400, 'invalid_request_error', message);
}
