import { expect, it } from 'vitest';
import { epoch, epochMs, runId, seq } from './ids';
import { EVENT_VERSION, type RunEvent } from './run-event';
import { type OldEvent, type Upcaster, upcast, upcastTo } from './upcast';

const stored = (version: number, body: Readonly<Record<string, unknown>>): RunEvent =>
  ({
    kind: 'api.recovered',
    runId: runId('r'),
    seq: seq(3),
    at: epochMs(1),
    epoch: epoch(1),
    by: 'worker',
    version,
    ...body,
  }) as unknown as RunEvent;

/** Version 1 called it `name`, version 2 `service`. */
const through = new Map<number, Upcaster>([
  [1, ({ name, ...rest }): OldEvent => ({ ...rest, service: name }) as OldEvent],
  [2, ({ service, ...rest }): OldEvent => ({ ...rest, api: service }) as OldEvent],
]);

it.each([
  [1, { name: 'shop' }],
  [2, { service: 'shop' }],
  [3, { api: 'shop' }],
])('reads version %i as today’s, through every version between, and keeps its place', (version, body) => {
  expect(upcastTo(stored(version, body), 3, through)).toEqual(stored(3, { api: 'shop' }));
});

it.each([
  ['one that nothing reads', 0, 'No upcaster reads version 0 of api.recovered'],
  ['a newer one', 4, 'written by a newer release'],
])('refuses %s by name', (_what, version, message) => {
  expect(() => upcastTo(stored(version, {}), 3, through)).toThrow(message);
});

it('leaves today’s as it is', () => {
  const event = stored(EVENT_VERSION, { api: 'shop' });
  expect(upcast(event)).toBe(event);
});
