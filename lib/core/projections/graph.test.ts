import { describe, expect, it } from 'vitest';
import { TestLineage, testMachine } from '../../testing/random-journal';
import { seq } from '../events/ids';
import type { NewEvent } from '../events/run-event';
import type { Machine } from '../machine/machine';
import { effectivePath } from './effective-path';
import { graphAt, mineMachine, type VisitEvent, visitsOf } from './graph';

/** Walks through states: every `to` after the first leaves the one before. */
function walk(...states: readonly string[]): TestLineage {
  const lineage = new TestLineage();
  const visits = new Map<string, number>();
  let open: { readonly state: string; readonly visit: number } | undefined;
  for (const state of states) {
    const visit = (visits.get(state) ?? 0) + 1;
    visits.set(state, visit);
    const leave: readonly NewEvent[] = open
      ? [{ kind: 'state.left', key: `${open.state}#${open.visit}`, ...open, to: state }]
      : [];
    lineage.worker([
      ...leave,
      { kind: 'state.entered', key: `${state}#${visit}`, state, visit, ...(open && { from: open.state }) },
    ]);
    open = { state, visit };
  }
  return lineage;
}

const isVisit = (event: NewEvent): event is VisitEvent =>
  event.kind === 'state.entered' || event.kind === 'state.left';
const graphOf = (lineage: TestLineage, machine?: Machine) => {
  const { run, events } = lineage.of();
  return graphAt(machine, run.state, effectivePath(events).filter(isVisit), []);
};

const loop: Machine = {
  ...testMachine,
  initial: 'plan',
  states: {
    plan: { transitions: ['lookup', 'ask'], tools: [] },
    lookup: { transitions: ['plan', 'done'], tools: ['search'] },
    ask: { transitions: ['plan'], tools: [] },
    done: { transitions: [], tools: [], final: true },
  },
};

describe('graphAt', () => {
  it('counts visits and edges taken, marks the newest edge and states never visited', () => {
    const graph = graphOf(walk('plan', 'lookup', 'plan', 'lookup'), loop);
    expect(graph.states.map(({ name, visits }) => [name, visits])).toEqual([
      ['plan', 2],
      ['lookup', 2],
      ['ask', 0],
      ['done', 0],
    ]);
    expect(graph.edges.map(({ from, to, taken, newest }) => [from, to, taken, newest])).toEqual([
      ['plan', 'lookup', 2, true],
      ['plan', 'ask', 0, false],
      ['lookup', 'plan', 1, false],
      ['lookup', 'done', 0, false],
      ['ask', 'plan', 0, false],
    ]);
    expect(graph.current).toBe('lookup');
    expect(graph.visits.map(({ key, leftSeq }) => [key, leftSeq !== undefined])).toEqual([
      ['plan#1', true],
      ['lookup#1', true],
      ['plan#2', true],
      ['lookup#2', false],
    ]);
  });

  it('marks what was seen and never declared, and drops nothing', () => {
    const graph = graphOf(walk('plan', 'done', 'elsewhere'), loop);
    expect(graph.states.find(({ name }) => name === 'elsewhere')).toMatchObject({
      declared: false,
      visits: 1,
    });
    expect(graph.edges.filter(({ declared }) => !declared).map(({ from, to }) => [from, to])).toEqual([
      ['plan', 'done'],
      ['done', 'elsewhere'],
    ]);
  });

  it('says where the run stopped', () => {
    const lineage = walk('plan', 'lookup');
    lineage.worker([{ kind: 'run.failed', cause: 'error', error: { type: 'E', message: 'broke' } }]);
    expect(
      graphOf(lineage, loop)
        .states.filter(({ stoppedHere }) => stoppedHere)
        .map(({ name }) => name),
    ).toEqual(['lookup']);
  });

  it('counts the time of a visit that is still open, up to the newest event', () => {
    const lineage = walk('plan', 'lookup', 'plan');
    const closed = graphOf(lineage, loop).states;
    lineage.worker([{ kind: 'run.failed', cause: 'error', error: { type: 'E', message: 'broke' } }]);
    const { state } = lineage.of().run;
    const open = state.at - (state.visit?.at ?? 0);
    expect(open).toBeGreaterThan(0);
    expect(graphOf(lineage, loop).states.map(({ name, totalMs }) => [name, totalMs])).toEqual(
      closed.map(({ name, totalMs }) => [name, name === 'plan' ? totalMs + open : totalMs]),
    );
  });

  it('says how the run stood at that moment', () => {
    const lineage = walk('plan');
    expect(graphOf(lineage, loop).status).toBe('running');
    lineage.worker([{ kind: 'run.failed', cause: 'error', error: { type: 'E', message: 'broke' } }]);
    expect(graphOf(lineage, loop).status).toBe('failed');
  });

  it('counts the time of a visit that was left once', () => {
    const lineage = walk('plan');
    const entered = lineage.of().run.state.visit?.at ?? 0;
    lineage.worker([{ kind: 'state.left', key: 'plan#1', state: 'plan', visit: 1 }]);
    const spent = lineage.of().run.state.at - entered;
    lineage.worker([{ kind: 'run.completed' }]);
    expect(graphOf(lineage, loop).states.find(({ name }) => name === 'plan')?.totalMs).toBe(spent);
  });

  it('tells of each visit how long it took, which together is what its state took', () => {
    const lineage = walk('plan', 'lookup', 'plan', 'lookup');
    lineage.worker([{ kind: 'run.failed', cause: 'error', error: { type: 'E', message: 'broke' } }]);
    const graph = graphOf(lineage, loop);
    for (const { name, totalMs, visits } of graph.states) {
      const each = graph.visits.filter(({ state }) => state === name).map(({ ms }) => ms ?? Number.NaN);
      expect(each).toHaveLength(visits);
      expect(each.reduce((sum, ms) => sum + ms, 0)).toBe(totalMs);
    }
  });

  it('does not say how long a visit took that may have been left later', () => {
    const { events } = walk('plan', 'lookup').of();
    const [plan, lookup] = visitsOf(
      effectivePath(events).filter(isVisit),
      events.at(-1)?.seq ?? seq(0),
      undefined,
    );
    expect(plan?.ms).toBeGreaterThanOrEqual(0);
    expect(lookup).not.toHaveProperty('ms');
  });

  it('mines the machine where there is none, and says so', () => {
    const graph = graphOf(walk('a', 'b', 'a', 'b', 'c'));
    expect(graph.provenance).toBe('mined');
    expect(graph.initial).toBe('a');
    expect(mineMachine(walk('a', 'b', 'a', 'b', 'c').of().run.state).states).toEqual({
      a: { transitions: ['b'], tools: [] },
      b: { transitions: ['a', 'c'], tools: [] },
      c: { transitions: [], tools: [] },
    });
  });
});
