import { createHash } from 'node:crypto';
import type { Order, OrderLine, PolicyText } from '../domain';
import { type ServiceAnswer, serve } from './serve';

/* The shop: orders, a customer's history, the refund policies, and the help desk's tickets. */

const line = (
  sku: string,
  title: string,
  category: OrderLine['category'],
  paidCents: number,
  daysSinceDelivery: number,
): OrderLine => ({ sku, title, category, paidCents, daysSinceDelivery });

const order = (id: string, customer: Order['customer'], lines: readonly OrderLine[]): Order => ({
  id,
  customer,
  currency: 'EUR',
  lines,
});

const ines = { id: 'C-7', name: 'Ines Ferreira', email: 'ines@example.com' };
const oskar = { id: 'C-12', name: 'Oskar Lindqvist', email: 'oskar@example.com' };
const maya = { id: 'C-31', name: 'Maya Okafor', email: 'maya@example.com' };
const tomas = { id: 'C-44', name: 'Tomáš Novák', email: 'tomas@example.com' };

const ORDERS: readonly Order[] = [
  order('ORD-1001', ines, [
    line('BK-18', 'Sea charts of Brittany', 'books', 2_900, 6),
    line('BK-21', 'Knots', 'books', 1_350, 6),
  ]),
  order('ORD-1002', oskar, [line('EL-77', 'Noise-cancelling headset', 'electronics', 48_000, 9)]),
  order('ORD-1003', maya, [
    line('CL-05', 'Rain jacket', 'clothing', 9_900, 12),
    line('CL-09', 'Merino base layer', 'clothing', 4_900, 12),
  ]),
  order('ORD-1004', tomas, [
    line('BK-40', 'Field guide to lichens', 'books', 3_820, 3),
    line('CL-02', 'Wool socks', 'clothing', 2_300, 3),
  ]),
];

const policy = (category: OrderLine['category'], goodsAre: string, returnDays: number): PolicyText => ({
  category,
  returnDays,
  text: `${goodsAre} refunded in full within ${returnDays} days of delivery.`,
});

const POLICIES: Readonly<Record<OrderLine['category'], PolicyText>> = {
  books: policy('books', 'Books are', 30),
  clothing: policy('clothing', 'Clothing is', 60),
  electronics: policy('electronics', 'Electronics are', 14),
};

/** Any other number has an order too, always the same one: whoever makes many runs needs no fixture for each. */
function orderOf(id: string): Order | undefined {
  const known = ORDERS.find((one) => one.id === id);
  const number = Number(/^ORD-(\d+)$/.exec(id)?.[1]);
  if (known !== undefined || !Number.isInteger(number)) return known;
  const customer = {
    id: `C-${number}`,
    name: `Customer ${number}`,
    email: `customer-${number}@example.com`,
  };
  return order(id, customer, [
    line('CL-05', 'Rain jacket', 'clothing', 5_000 + (number % 40) * 50, 5),
    line('BK-21', 'Knots', 'books', 1_350, 5),
  ]);
}

const closedTickets = new Map<string, unknown>();

function closeTicket(id: string, key: string | null): ServiceAnswer {
  if (key === null) return { status: 400, body: { error: { message: 'Idempotency-Key is missing' } } };
  const closed = closedTickets.get(key) ?? {
    ticket: id,
    reference: createHash('sha256').update(key).digest('hex').slice(0, 8),
  };
  closedTickets.set(key, closed);
  return { status: 200, body: closed };
}

const notFound: ServiceAnswer = { status: 404, body: { error: { message: 'not found' } } };

serve((request) => {
  const [kind, id = '', rest] = request.url.pathname.slice(1).split('/');
  if (kind === 'orders') {
    const found = orderOf(id);
    return found === undefined ? notFound : { status: 200, body: found };
  }
  if (kind === 'customers') return { status: 200, body: { customerOf: id, refundsLastYear: id.length % 3 } };
  if (kind === 'policies') {
    const found = POLICIES[request.url.searchParams.get('category') as OrderLine['category']];
    return found === undefined ? notFound : { status: 200, body: { documents: [found] } };
  }
  if (kind === 'tickets' && rest === 'close') return closeTicket(id, request.idempotencyKey);
  return notFound;
});
