import type { MessageRow } from '@/lib/client/api-types';

/** How much of the conversation each role wrote. */
export interface RoleShare {
  readonly role: string;
  readonly messages: number;
  readonly bytes: number;
  /** Of all bytes, 0 to 1. */
  readonly share: number;
}

const order = ['system', 'user', 'assistant', 'tool'];
const rank = (role: string) => (order.includes(role) ? order.indexOf(role) : order.length);

/** Shares of the roles, in the order of a conversation; roles of other names come last. */
export function roleShares(messages: readonly Pick<MessageRow, 'role' | 'message'>[]): readonly RoleShare[] {
  const byRole = new Map<string, { messages: number; bytes: number }>();
  for (const { role, message } of messages) {
    const sum = byRole.get(role) ?? { messages: 0, bytes: 0 };
    byRole.set(role, { messages: sum.messages + 1, bytes: sum.bytes + message.bytes });
  }
  const all = [...byRole.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  return [...byRole]
    .map(([role, sum]) => ({ role, ...sum, share: all === 0 ? 0 : sum.bytes / all }))
    .toSorted((a, b) => rank(a.role) - rank(b.role));
}
