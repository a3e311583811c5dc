import { describe, expect, it } from 'vitest';
import { fieldsOf } from '@/components/run/schema-fields';
import type { CheckpointRow, PlanAnswer, PlanBody, PlannedStep } from '@/lib/client/api-types';
import { runId, seq, stepKey } from '@/lib/core/events/ids';
import {
  choices,
  draftToPlan,
  holdsIn,
  intentKey,
  isDirty,
  isEditable,
  leftWords,
  modeFor,
  noDraft,
  pointWords,
  readDraft,
  shownGroups,
  startOf,
  startPoints,
  startWords,
  thinnedOut,
  variablePath,
} from './plan-draft';

const checkpoint = (n: number, inForce = true) =>
  ({ id: `cp_${n * 10}`, n, seq: n * 10, name: 'after a', inForce }) as unknown as CheckpointRow;
const checkpoints = [checkpoint(1), checkpoint(2), checkpoint(3, false)];
const RUN = runId('run_1');
const effect = {
  stepKey: stepKey('pay#1/send#1'),
  name: 'send',
  intentSeq: seq(9),
  runId: RUN,
  status: 'in-doubt' as const,
};
const fields = () => fieldsOf({ type: 'object', properties: { id: { type: 'string' } }, required: ['id'] });

describe('the checkpoint picker', () => {
  it('offers what no rewind left behind, newest first', () => {
    expect(choices(checkpoints).map((each) => each.n)).toEqual([2, 1]);
  });

  it('lists every point by name, newest first, and marks the one that repeats the least', () => {
    const listed = (mode: 'resume' | 'fork' | 'rewind') =>
      startPoints(mode, choices(checkpoints)).map(({ from, words, safest }) => [from, words, safest]);
    expect(listed('resume')).toEqual([
      ['latest', 'The newest point', true],
      ['cp_20', '2, after a', false],
      ['cp_10', '1, after a', false],
      ['start', 'The start', false],
    ]);
    expect(listed('fork').filter(([, , safest]) => safest)).toEqual([['cp_20', '2, after a', true]]);
    expect(listed('rewind').some(([, , safest]) => safest)).toBe(false);
  });

  it('turns a resume from an older point into a rewind, and only that', () => {
    expect(['latest', 'cp_20', 'cp_10'].map((from) => modeFor('resume', from, checkpoints))).toEqual([
      'resume',
      'resume',
      'rewind',
    ]);
    expect(modeFor('fork', 'cp_10', checkpoints)).toBe('fork');
  });

  it('starts each mode where it is safest', () => {
    expect(
      (['resume', 'replay', 'fork', 'rewind'] as const).map((mode) => startOf(mode, checkpoints)),
    ).toEqual(['latest', 'start', 'cp_20', 'cp_10']);
  });
});

describe('the sentence beside the picker', () => {
  const said = (from: string, mode: 'resume' | 'rewind' | 'fork') => startWords(mode, from, checkpoints);

  it('stands for every point that a rewind can start from, the newest one too', () => {
    expect(said('cp_10', 'rewind')).toContain('Checkpoint 1 is older than 2');
    expect(said('cp_20', 'rewind')).toContain('Checkpoint 2 is the newest');
    expect(said('latest', 'rewind')).toContain('Checkpoint 2 is the newest');
    expect(said('start', 'rewind')).toContain('from the start');
    // Left behind meanwhile, and a step: neither is among the choices.
    expect(said('cp_30', 'rewind')).not.toBe('');
    expect(said('step:pay#1/send#1', 'rewind')).not.toBe('');
  });

  it('says of a resume that what is recorded is given back, after an older choice too', () => {
    expect(said('latest', 'resume')).not.toContain('after this checkpoint');
    expect(said('cp_20', 'resume')).toContain('after this checkpoint too');
    expect(said('latest', 'fork')).toContain('the original stays as it is');
  });

  it('promises nothing where there is nothing to do', () => {
    expect(startWords('resume', 'latest', checkpoints, true)).toBe('Nothing goes on from here.');
  });
});

describe('what the plan says of itself', () => {
  const step = (key: string, disposition: string) => ({ key, disposition });
  const plan = (part: object) => part as unknown as PlanAnswer;
  const left = (mode: 'rewind' | 'fork', dispositions: readonly string[], part: object = {}) =>
    leftWords(
      plan({
        mode,
        steps: dispositions.map((each, n) => step(`s#${n}`, each)),
        leftBehind: {
          steps: 4,
          effects: dispositions.map((_, n) => ({ stepKey: `s#${n}` })),
          questions: [],
          ...part,
        },
      }),
    );

  it('steps left behind answer nothing, but for effects whose rows say that they do', () => {
    expect(left('rewind', ['blocked', 'blocked'])).toBe('4 steps stay in history and answer nothing.');
    expect(left('rewind', ['skip', 'blocked'])).toBe(
      '4 steps stay in history: 1 of them answers from the record where it is asked for again, the others answer nothing.',
    );
    expect(left('rewind', ['skip', 'reuse'])).toBe(
      '4 steps stay in history: 2 of them answer from the record where they are asked for again, the others answer nothing.',
    );
    expect(left('rewind', ['skip'], { steps: 1 })).toBe(
      '1 step stays in history and answers from the record where it is asked for again.',
    );
    expect(left('rewind', [], { steps: 1, questions: ['a'] })).toBe(
      '1 step stays in history and answers nothing. 1 question will be asked again.',
    );
  });

  it('steps that a fork does not inherit are not with the original alone where it is given their answers', () => {
    expect(left('fork', [])).toBe('4 steps stay with the original run alone.');
    expect(left('fork', ['reuse', 'skip'])).toBe(
      '4 steps stay with the original run: 2 of them answer from the record where they are asked for again, the others answer nothing.',
    );
  });

  it('no checkpoint is named for what closed after it', () => {
    const at = (mode: string, asked: string, checkpointId: string | null = 'cp_20') =>
      pointWords(plan({ mode, from: { asked, checkpointId, name: '2, after a' } }));
    expect(at('resume', 'latest')).toBe('Up to the newest point');
    expect(at('resume', 'cp_20')).toBe('Up to the newest point');
    expect(at('fork', 'latest')).toBe('Up to the newest point');
    expect(at('fork', 'cp_20')).toBe('Inside checkpoint 2, after a');
    expect(at('rewind', 'latest')).toBe('Inside checkpoint 2, after a');
    expect(at('rewind', 'start', null)).toBe('Before 2, after a');
  });
});

describe('very many', () => {
  it('checkpoints are thinned out on the rail, but never the chosen one', () => {
    const many = Array.from({ length: 3_000 }, (_, n) => checkpoint(n + 1));
    const shown = thinnedOut(many, 30_000, 60, (each) => each.id === 'cp_20020');
    expect(shown.length).toBeLessThanOrEqual(62);
    expect(shown).toContain(many[2001]);
    expect(thinnedOut(checkpoints, 40, 60, () => false)).toEqual(checkpoints);
  });

  it('visits are left out with their number, but never one that presses', () => {
    const groups = Array.from({ length: 9 }, (_, n) => ({ visit: `v#${n}`, steps: [] }));
    const shown = shownGroups(groups, 3, (group) => group.visit === 'v#5');
    expect(shown.map((each) => ('leftOut' in each ? each.leftOut : each.visit))).toEqual([
      'v#0',
      'v#1',
      'v#2',
      2,
      'v#5',
      3,
    ]);
    expect(shownGroups(groups, 9, () => false)).toEqual(groups);
  });
});

describe('a draft', () => {
  it('asks for a plan with the decisions that are complete', () => {
    const draft = {
      ...noDraft,
      decisions: {
        [intentKey(effect)]: { outcome: 'happened' as const, texts: { id: 're_1' }, receipt: 're_1' },
      },
    };
    expect(readDraft(RUN, 'resume', 'latest', draft, [effect], fields)).toEqual({
      body: {
        mode: 'resume',
        from: 'latest',
        decisions: {
          [effect.stepKey]: {
            intentSeq: 9,
            outcome: 'happened',
            result: { value: { id: 're_1' } },
            receipt: 're_1',
          },
        },
      },
      open: [],
    });
  });

  it('says what is missing instead of deciding with half a result', () => {
    const draft = {
      ...noDraft,
      decisions: { [intentKey(effect)]: { outcome: 'happened' as const, texts: {}, receipt: '' } },
    };
    const { body, open } = readDraft(RUN, 'resume', 'latest', draft, [effect], fields);
    expect(body).toEqual({ mode: 'resume', from: 'latest' });
    expect(open).toEqual(['The result of send is not complete: id is needed']);
  });

  it.each(['fork', 'replay'] as const)('decides nothing with a %s, which would record none', (mode) => {
    const draft = {
      ...noDraft,
      decisions: { [intentKey(effect)]: { outcome: 'happened' as const, texts: {}, receipt: '' } },
    };
    expect(readDraft(RUN, mode, 'latest', draft, [effect], fields)).toEqual({
      body: { mode, from: 'latest' },
      open: [],
    });
  });

  const settled = { outcome: 'did-not-happen' as const, texts: {}, receipt: '' };
  it.each([
    ['downstream said meanwhile that it happened', { status: 'confirmed' as const }],
    ['it surely did not happen', { status: 'failed' as const }],
    ['it is under way again', { status: 'intended' as const }],
    ['it was compensated', { status: 'compensated' as const }],
    ['another run owns it', { runId: runId('run_2') }],
    ['it is another attempt that is in doubt', { intentSeq: seq(40) }],
  ])('decides nothing that an order could not carry: %s', (_, now) => {
    const draft = { ...noDraft, decisions: { [intentKey(effect)]: settled } };
    for (const mode of ['resume', 'rewind'] as const) {
      expect(readDraft(RUN, mode, 'latest', draft, [effect], fields).body).toHaveProperty('decisions');
      expect(readDraft(RUN, mode, 'latest', draft, [{ ...effect, ...now }], fields)).toEqual({
        body: { mode, from: 'latest' },
        open: [],
      });
    }
  });

  it('would be lost where it holds anything that is not recorded', () => {
    const decided = { ...noDraft, decisions: { [intentKey(effect)]: settled } };
    expect(isDirty(noDraft, [effect], ' ')).toBe(false);
    expect(isDirty(noDraft, [], 'why')).toBe(true);
    expect(isDirty({ ...noDraft, keep: [effect.stepKey] }, [], '')).toBe(true);
    expect(isDirty({ ...noDraft, edits: [{ path: '/input', text: '', was: '0' }] }, [], '')).toBe(true);
    expect(isDirty(decided, [effect], '')).toBe(true);
    expect(isDirty(decided, [{ ...effect, status: 'confirmed' }], '')).toBe(false);
  });

  it('sends edits with a fork alone and keeps with a rewind alone', () => {
    const draft = {
      ...noDraft,
      keep: [effect.stepKey],
      edits: [{ path: variablePath('a/b'), text: '{"x":1}', was: '0' }],
    };
    expect(readDraft(RUN, 'fork', 'cp_20', draft, [], fields).body).toEqual({
      mode: 'fork',
      from: 'cp_20',
      edits: [{ path: '/variables/a~1b', value: { x: 1 } }],
    });
    expect(readDraft(RUN, 'rewind', 'cp_10', draft, [], fields).body).toEqual({
      mode: 'rewind',
      from: 'cp_10',
      options: { keep: [effect.stepKey] },
    });
  });
});

describe('the draft that is planned for', () => {
  const rested = {
    ...noDraft,
    decisions: { k: { outcome: 'happened', texts: { id: '1' }, receipt: '' } },
    edits: [{ path: '/variables/a', text: '1', was: '0' }],
  } as const;

  it('is the one before while a text is typed', () => {
    const typed = [
      { ...rested, decisions: { k: { ...rested.decisions.k, texts: { id: '12' } } } },
      { ...rested, decisions: { k: { ...rested.decisions.k, receipt: 're_1' } } },
      { ...rested, edits: [{ path: '/variables/a', text: '12', was: '0' }] },
    ];
    for (const draft of typed) expect(draftToPlan(draft, rested)).toBe(rested);
  });

  it('is the new one as soon as something is chosen', () => {
    const chosen = [
      { ...rested, decisions: { k: { ...rested.decisions.k, outcome: 'hold' as const } } },
      { ...rested, decisions: {} },
      { ...rested, keep: [stepKey('pay#1/send#1')] },
      { ...rested, edits: [] },
    ];
    for (const draft of chosen) expect(draftToPlan(draft, rested)).toBe(draft);
  });
});

describe('holds', () => {
  const totals = (needsDecision: number) =>
    ({ mode: 'resume', totals: { 'needs-decision': needsDecision } }) as PlanAnswer;
  const hold = { intentSeq: seq(9), outcome: 'hold' } as const;
  const decided = { 'pay#1/send#1': hold } as NonNullable<PlanBody['decisions']>;
  const effects = [{ stepKey: stepKey('pay#1/send#1'), held: false }];

  it('are what the button records where nothing else was decided or is left to decide', () => {
    expect(holdsIn(totals(0), { decisions: decided }, effects)).toEqual(decided);
  });

  it.each([
    ['another decision is open', totals(1), decided, effects],
    ['nothing was decided', totals(0), {}, effects],
    ['it is recorded', totals(0), decided, [{ stepKey: stepKey('pay#1/send#1'), held: true }]],
    [
      'something else was decided too',
      totals(0),
      { ...decided, 'pay#1/other#1': { intentSeq: seq(8), outcome: 'did-not-happen' } } as typeof decided,
      effects,
    ],
  ] as const)('are not, where %s', (_why, plan, decisions, rows) => {
    expect(holdsIn(plan, { decisions }, rows)).toBeUndefined();
  });
});

it('a fork edits the output of reads and answers of its open visit alone', () => {
  const from = { entrySeq: 10, seq: 20 } as PlanAnswer['from'];
  const step = (more: object) =>
    ({ disposition: 'reuse', effect: 'read', kind: 'tool', seq: 15, ...more }) as PlannedStep;
  expect(isEditable(step({}), { from })).toBe(true);
  expect(isEditable(step({ effect: null, kind: 'human' }), { from })).toBe(true);
  for (const other of [
    { seq: 9 },
    { seq: 21 },
    { effect: 'external', disposition: 'skip' },
    { effect: 'pure', disposition: 'recompute' },
    { disposition: 'execute' },
  ])
    expect(isEditable(step(other), { from })).toBe(false);
});
