import { NotSent, Rejected, Unavailable } from '@/lib/sdk/index';

/*
 * How the desk's tools talk to the services. Every failure is told apart for the SDK: surely not sent, refused by the
 * other side, unavailable, or (anything else) unknown.
 */

const NEVER_LEFT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);

const baseUrl = (service: 'PAYMENTS' | 'MAIL' | 'SHOP'): string => {
  const url = process.env[`RERAIL_DEMO_${service}_URL`];
  if (url === undefined)
    throw new NotSent(`RERAIL_DEMO_${service}_URL is not set: start the demo with npm start`);
  return url;
};

const codeOf = (error: unknown): string | undefined => {
  const cause: unknown = error instanceof Error ? (error.cause ?? error) : error;
  return typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : undefined;
};

export interface ServiceCall {
  readonly signal: AbortSignal;
  readonly idempotencyKey?: string | undefined;
}

const NAMES = { PAYMENTS: 'payments', MAIL: 'mail', SHOP: 'the shop' } as const;

/** What a service says about its refusal: the message of `{ error: { message } }`, else its text. */
function wordsOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as { readonly error?: { readonly message?: unknown } };
    if (typeof error?.message === 'string') return error.message;
  } catch {
    // Not JSON: the text itself is what there is to say.
  }
  return text.slice(0, 500);
}

/** Asks a service and gives the JSON of its answer. */
export async function callService<Answer>(
  service: 'PAYMENTS' | 'MAIL' | 'SHOP',
  path: string,
  call: ServiceCall,
  body?: unknown,
): Promise<Answer> {
  const response = await fetch(`${baseUrl(service)}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'content-type': 'application/json',
      ...(call.idempotencyKey === undefined ? {} : { 'idempotency-key': call.idempotencyKey }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: call.signal,
  }).catch((error: unknown) => {
    if (NEVER_LEFT.has(codeOf(error) ?? ''))
      throw new NotSent(`${NAMES[service]} cannot be reached: ${codeOf(error)}`);
    throw error;
  });
  const text = await response.text();
  if (response.status === 429 || response.status >= 500) {
    throw new Unavailable(`${NAMES[service]} answered ${response.status}: ${wordsOf(text)}`);
  }
  if (!response.ok) throw new Rejected(`${NAMES[service]} answered ${response.status}: ${wordsOf(text)}`);
  return JSON.parse(text) as Answer;
}
