import { expect, it } from 'vitest';
import type { RunEvent } from '@/lib/core/events/run-event';
import { writtenAt } from './written-at';

const patched = (seq: number, ...paths: readonly string[]) =>
  ({
    kind: 'variables.patched',
    seq,
    patch: paths.map((path) => ({ op: 'add', path })),
  }) as unknown as RunEvent;
const rewound = (seq: number, toSeq: number) => ({ kind: 'run.rewound', seq, toSeq }) as unknown as RunEvent;
/** Of events in the journal's order, as the newest first are read. */
const of = (...events: readonly RunEvent[]) => Object.fromEntries(writtenAt(events.toReversed()));

it('is where each variable was written last', () => {
  expect(of(patched(3, '/order', '/a~1b'), patched(7, '/total'), patched(9, '/order'))).toEqual({
    order: 9,
    'a/b': 3,
    total: 7,
  });
});

it('is not where a rewind has left it behind', () => {
  expect(of(patched(3, '/order'), patched(8, '/order'), rewound(10, 5), patched(12, '/total'))).toEqual({
    order: 3,
    total: 12,
  });
  // Back twice, the second time to before the first.
  expect(
    of(
      patched(2, '/x'),
      patched(4, '/x'),
      patched(8, '/x'),
      rewound(10, 5),
      patched(11, '/x'),
      rewound(12, 3),
    ),
  ).toEqual({ x: 2 });
});

it('says nothing of what those events do not write', () => {
  expect(of(rewound(10, 5))).toEqual({});
  expect(of(patched(3, '/constructor'))).toEqual({ constructor: 3 });
});
