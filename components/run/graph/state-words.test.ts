import { describe, expect, it } from 'vitest';
import { machineWords, stateWords } from './state-words';
import type { StateNodeView } from './to-graph';

const data = (change: Partial<StateNodeView> = {}): StateNodeView => ({
  name: 'issue_refund',
  visits: 0,
  unvisited: 'never',
  totalMs: 0,
  final: false,
  initial: false,
  declared: true,
  atCursor: false,
  stoppedHere: false,
  marks: { flag: 'left', start: 92 },
  status: undefined,
  checkpoints: [],
  entries: [],
  said: undefined,
  ahead: false,
  ...change,
});
const here = (status: StateNodeView['status']) =>
  stateWords(
    data({ visits: 1, unvisited: undefined, totalMs: 8_040_000, atCursor: true, stoppedHere: true, status }),
  );

describe('what a state says', () => {
  it('tells one that the run comes to after the cursor from one that it never came to', () => {
    expect(stateWords(data({ unvisited: 'later' }))).toMatchObject({
      meta: 'not yet',
      label: 'State issue_refund, not visited up to the cursor',
    });
    expect(stateWords(data())).toMatchObject({
      meta: 'never visited',
      label: 'State issue_refund, never visited',
    });
    // What a rewind left behind may have been there.
    expect(stateWords(data({ unvisited: 'not-in-force' })).label).not.toContain('never');
    expect(stateWords(data({ initial: true, unvisited: 'later' })).meta).toBe('starts here');
  });

  it('keeps its whole name where it is cut, with its visits', () => {
    expect(stateWords(data()).title).toBe('issue_refund\nnever visited');
    expect(stateWords(data({ visits: 1, unvisited: undefined, said: 'visit 1: seq 2 to 9' })).title).toBe(
      'issue_refund\nvisit 1: seq 2 to 9',
    );
  });

  it('tells how the run stands in it: a cancelled one stopped without a fault', () => {
    expect(here('failed')).toMatchObject({ meta: '2 h 14 min', stands: { tone: 'bad' } });
    expect(here('cancelled')).toMatchObject({
      meta: 'cancelled',
      stands: { tone: 'neutral' },
      label: 'State issue_refund, 1 visit, at the cursor, cancelled here',
    });
    expect(here('waiting').meta).toBe('waiting');
    expect(here('running')).toMatchObject({ meta: '2 h 14 min', stands: undefined });
  });
});

it('a run that has not begun has no machine that is known', () => {
  expect(machineWords({ provenance: 'mined', states: [] })).toBe('not known yet');
  expect(machineWords({ provenance: 'mined', states: [{}] as never })).toBe('mined');
  expect(machineWords({ provenance: 'declared', states: [] })).toBe('declared');
});
