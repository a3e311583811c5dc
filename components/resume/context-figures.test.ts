import { expect, it } from 'vitest';
import type { MessageRow } from '@/lib/client/api-types';
import { roleShares } from './context-figures';

const message = (role: string, bytes: number) => ({ role, message: { bytes } as MessageRow['message'] });

it('sums a conversation by role, in its order, with shares that make one whole', () => {
  const shares = roleShares([
    message('tool', 300),
    message('critic', 100),
    message('user', 200),
    message('system', 300),
    message('user', 100),
  ]);
  expect(shares).toEqual([
    { role: 'system', messages: 1, bytes: 300, share: 0.3 },
    { role: 'user', messages: 2, bytes: 300, share: 0.3 },
    { role: 'tool', messages: 1, bytes: 300, share: 0.3 },
    { role: 'critic', messages: 1, bytes: 100, share: 0.1 },
  ]);
  expect(roleShares([])).toEqual([]);
  expect(roleShares([message('user', 0)])).toMatchObject([{ share: 0 }]);
});
