import { createHash } from 'node:crypto';
import { keyOf, openBook, writeRequest } from './book';
import { type ServiceAnswer, type ServiceRequest, serve } from './serve';

/* The payment provider: `POST /refunds` under an Idempotency-Key, `GET /refunds?key=` to ask what became of one. */

interface Refund {
  readonly id: string;
  readonly orderId: string;
  readonly amountCents: number;
  readonly currency: string;
}

const book = openBook<Refund>('payments');

function createRefund(request: ServiceRequest): ServiceAnswer {
  const key = request.idempotencyKey;
  const known = key === null ? undefined : book.find(key);
  if (known !== undefined) return { status: 200, body: known };
  if (key === null) return { status: 400, body: { error: { message: 'Idempotency-Key is missing' } } };
  const asked = JSON.parse(request.text) as Omit<Refund, 'id'>;
  if (!(Number.isInteger(asked.amountCents) && asked.amountCents > 0)) {
    return { status: 422, body: { error: { message: `amountCents must be a positive whole number` } } };
  }
  const refund: Refund = {
    id: `re_${createHash('sha256').update(key).digest('hex').slice(0, 16)}`,
    orderId: asked.orderId,
    amountCents: asked.amountCents,
    currency: asked.currency,
  };
  book.add(key, refund);
  return { status: 201, body: refund };
}

function findRefund(key: string | null): ServiceAnswer {
  return { status: 200, body: { refund: (key === null ? undefined : book.find(key)) ?? null } };
}

function received(request: ServiceRequest): void {
  if (request.url.pathname === '/refunds')
    writeRequest(request, book, 'payments', { makes: 'refund.create', finds: 'refund.find' });
}

serve((request) => {
  if (request.url.pathname !== '/refunds')
    return { status: 404, body: { error: { message: 'no such path' } } };
  return request.method === 'POST' ? createRefund(request) : findRefund(keyOf(request));
}, received);
