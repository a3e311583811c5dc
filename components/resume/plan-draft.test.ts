import { describe, expect, it } from 'vitest';
import { fieldsOf } from '@/components/run/schema-fields';
import type { CheckpointRow, PlanAnswer } from '@/lib/client/api-types';
import { seq, stepKey } from '@/lib/core/events/ids';
import { choices, modeFor, noDraft, orderWords, readDraft, startOf, variablePath } from './plan-draft';

const checkpoint = (n: number, inForce = true) =>
  ({ id: `cp_${n * 10}`, n, seq: n * 10, name: 'after a', inForce }) as unknown as CheckpointRow;
const checkpoints = [checkpoint(1), checkpoint(2), checkpoint(3, false)];
const effect = { stepKey: stepKey('pay#1/send#1'), name: 'send', intentSeq: seq(9) };
const fields = () => fieldsOf({ type: 'object', properties: { id: { type: 'string' } }, required: ['id'] });

describe('the checkpoint picker', () => {
  it('offers what no rewind left behind, newest first', () => {
    expect(choices(checkpoints).map((each) => each.n)).toEqual([2, 1]);
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

describe('a draft', () => {
  it('asks for a plan with the decisions that are complete', () => {
    const draft = {
      ...noDraft,
      decisions: {
        [effect.stepKey]: { outcome: 'happened' as const, texts: { id: 're_1' }, receipt: 're_1' },
      },
    };
    expect(readDraft('resume', 'latest', draft, [effect], fields)).toEqual({
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
      decisions: { [effect.stepKey]: { outcome: 'happened' as const, texts: {}, receipt: '' } },
    };
    const { body, open } = readDraft('resume', 'latest', draft, [effect], fields);
    expect(body).toEqual({ mode: 'resume', from: 'latest' });
    expect(open).toEqual(['The result of send is not complete: id is needed']);
  });

  it.each(['fork', 'replay'] as const)('decides nothing with a %s, which would record none', (mode) => {
    const draft = {
      ...noDraft,
      decisions: { [effect.stepKey]: { outcome: 'happened' as const, texts: {}, receipt: '' } },
    };
    expect(readDraft(mode, 'latest', draft, [effect], fields)).toEqual({
      body: { mode, from: 'latest' },
      open: [],
    });
  });

  it('sends edits with a fork alone and keeps with a rewind alone', () => {
    const draft = {
      ...noDraft,
      keep: [effect.stepKey],
      edits: [{ path: variablePath('a/b'), text: '{"x":1}' }],
    };
    expect(readDraft('fork', 'cp_20', draft, [], fields).body).toEqual({
      mode: 'fork',
      from: 'cp_20',
      edits: [{ path: '/variables/a~1b', value: { x: 1 } }],
    });
    expect(readDraft('rewind', 'cp_10', draft, [], fields).body).toEqual({
      mode: 'rewind',
      from: 'cp_10',
      options: { keep: [effect.stepKey] },
    });
  });
});

describe('the button', () => {
  const zero = {
    restored: 0,
    reuse: 0,
    skip: 0,
    recompute: 0,
    execute: 0,
    'retry-same-key': 0,
    'needs-decision': 0,
    blocked: 0,
  };
  const plan = (
    mode: PlanAnswer['mode'],
    totals: Partial<PlanAnswer['totals']>,
    rest: {
      readonly steps?: readonly {
        readonly key: string;
        readonly name: string;
        readonly disposition: string;
      }[];
      readonly obstacles?: readonly { readonly kind: string; readonly stepKey: string | null }[];
    } = {},
  ) =>
    ({
      mode,
      totals: { ...zero, ...totals },
      steps: rest.steps ?? [],
      obstacles: rest.obstacles ?? [],
      envelope: { states: ['pay'] },
      leftBehind: { steps: 3 },
    }) as unknown as PlanAnswer;
  const blocked = { key: effect.stepKey, name: 'send', disposition: 'blocked' };

  it('says what has to be done first, and only then what will really run', () => {
    expect(orderWords(plan('resume', { 'needs-decision': 2, execute: 1 }))).toBe(
      'Resume: decide 2 effects first',
    );
    expect(orderWords(plan('resume', { blocked: 1 }, { steps: [blocked] }))).toBe('Resume: blocked at send');
    expect(
      orderWords(
        plan(
          'rewind',
          { blocked: 1 },
          { steps: [blocked], obstacles: [{ kind: 'needs-keep', stepKey: effect.stepKey }] },
        ),
      ),
    ).toBe('Rewind: keep 1 confirmed effect first');
    expect(orderWords(plan('resume', {}, { obstacles: [{ kind: 'nothing-to-do', stepKey: null }] }))).toBe(
      'Resume: nothing to do',
    );
    expect(orderWords(plan('resume', { execute: 1, 'retry-same-key': 1 }))).toBe(
      'Resume: 2 steps will really run',
    );
    expect(orderWords(plan('resume', {}))).toBe('Resume: goes live in pay');
  });

  it('lets a replay run up to what has no record', () => {
    expect(orderWords(plan('replay', { blocked: 1, recompute: 2 }, { steps: [blocked] }))).toMatch(
      /^Replay: 2 steps/,
    );
  });
});
