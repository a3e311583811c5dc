import { createHash } from 'node:crypto';
import { keyOf, openBook, writeRequest } from './book';
import { type ServiceAnswer, type ServiceRequest, serve } from './serve';

/* The mail service: `POST /messages` under an Idempotency-Key, `GET /messages?key=` to ask what became of one. */

interface SentMail {
  readonly id: string;
  readonly to: string;
  readonly subject: string;
}

const book = openBook<SentMail>('mail');

function sendMail(request: ServiceRequest): ServiceAnswer {
  const key = request.idempotencyKey;
  const known = key === null ? undefined : book.find(key);
  if (known !== undefined) return { status: 200, body: known };
  if (key === null) return { status: 400, body: { error: { message: 'Idempotency-Key is missing' } } };
  const asked = JSON.parse(request.text) as { to: string; subject: string };
  if (!asked.to.includes('@'))
    return { status: 422, body: { error: { message: `no such mailbox: ${asked.to}` } } };
  const mail: SentMail = {
    id: `ml_${createHash('sha256').update(key).digest('hex').slice(0, 16)}`,
    to: asked.to,
    subject: asked.subject,
  };
  book.add(key, mail);
  return { status: 202, body: mail };
}

function findMail(key: string | null): ServiceAnswer {
  return { status: 200, body: { mail: (key === null ? undefined : book.find(key)) ?? null } };
}

function received(request: ServiceRequest): void {
  if (request.url.pathname === '/messages')
    writeRequest(request, book, 'mail', { makes: 'mail.send', finds: 'mail.find' });
}

serve((request) => {
  if (request.url.pathname !== '/messages')
    return { status: 404, body: { error: { message: 'no such path' } } };
  return request.method === 'POST' ? sendMail(request) : findMail(keyOf(request));
}, received);
