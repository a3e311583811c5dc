import { expect, it } from 'vitest';
import { TestLineage, testHash } from '../../testing/random-journal';
import { stepKey } from '../events/ids';
import type { NewEvent, Usage } from '../events/run-event';
import type { StepKind } from '../machine/machine';

/** What a step of a kind told when it had completed; `undefined`: nothing. */
type Told = readonly [StepKind, Usage | undefined];
const nothing: Told = ['llm', undefined];
const tokens: Told = ['llm', { inputTokens: 100, outputTokens: 38 }];
const price: Told = ['llm', { costMicroUsd: 2 }];
const all: Told = ['llm', { inputTokens: 100, outputTokens: 38, costMicroUsd: 2 }];
const zero: Told = ['llm', { inputTokens: 0, outputTokens: 0, costMicroUsd: 0 }];
const tool: Told = ['tool', undefined];

const events = ([kind, usage]: Told, n: number): readonly NewEvent[] => {
  const key = stepKey(`work#1/call#${n}`);
  return [
    {
      kind: 'step.started',
      stepKey: key,
      name: 'call',
      step: kind,
      effect: 'read',
      attempt: 1,
      inputDigest: testHash(key),
    },
    { kind: 'step.completed', stepKey: key, attempt: 1, recorded: true, ...(usage && { usage }) },
  ];
};

const cases: readonly (readonly [string, readonly Told[], Usage & { readonly unpriced: number }])[] = [
  ['no step', [], { unpriced: 0 }],
  ['a step that calls no model', [tool], { unpriced: 0 }],
  ['a call that told nothing', [nothing], { unpriced: 1 }],
  ['tokens alone', [tokens], { inputTokens: 100, outputTokens: 38, unpriced: 1 }],
  ['one side alone', [['llm', { inputTokens: 7 }]], { inputTokens: 7, unpriced: 1 }],
  ['a cost alone', [price], { costMicroUsd: 2, unpriced: 0 }],
  ['nought', [zero], { inputTokens: 0, outputTokens: 0, costMicroUsd: 0, unpriced: 0 }],
  [
    'two prices and a tool',
    [all, tool, all],
    { inputTokens: 200, outputTokens: 76, costMicroUsd: 4, unpriced: 0 },
  ],
  ['a part', [all, nothing, tokens], { inputTokens: 200, outputTokens: 76, costMicroUsd: 2, unpriced: 2 }],
  ['tokens of a tool', [['tool', { inputTokens: 5 }]], { inputTokens: 5, unpriced: 1 }],
];

it.each(cases)('counts what steps told, and nothing that none told: %s', (_, told, expected) => {
  const lineage = new TestLineage();
  lineage.worker([
    { kind: 'state.entered', key: 'work#1', state: 'work', visit: 1 },
    ...told.flatMap((one, i) => events(one, i + 1)),
  ]);
  const {
    steps,
    failedAttempts: _failed,
    repeatedAttempts: _repeated,
    visits: _visits,
    checkpoints: _checkpoints,
    ...usage
  } = lineage.of().run.state.counts;
  expect(steps).toBe(told.length);
  expect(usage).toStrictEqual(expected);
});
