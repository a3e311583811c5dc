import { describe, expect, it } from 'vitest';
import { testHash, testMachine } from '../../testing/random-journal';
import { compareMachines, machineDigestOf } from './drift';
import type { Machine, ToolDeclaration } from './machine';
import { reachFrom } from './reach';

const tool = (effect: ToolDeclaration['effect'], rest: Partial<ToolDeclaration> = {}): ToolDeclaration => ({
  effect,
  keyed: false,
  verify: false,
  timeoutMs: 1_000,
  settlesWithinMs: 60_000,
  keyValidForMs: 86_400_000,
  retries: 0,
  ...rest,
});

const desk: Machine = {
  agent: 'desk',
  provenance: 'declared',
  initial: 'plan',
  states: {
    plan: { transitions: ['lookup', 'close'], tools: ['search'] },
    lookup: { transitions: ['plan', 'pay'], tools: ['search', 'fetch'] },
    pay: { transitions: ['close'], tools: ['refund', 'mail'] },
    close: { transitions: [], tools: [], final: true },
    island: { transitions: ['close'], tools: ['wipe'] },
  },
  tools: {
    search: tool('read'),
    fetch: tool('read'),
    refund: tool('external', { keyed: true, input: { type: 'object', required: ['amount'] } }),
    mail: tool('external'),
    wipe: tool('external', { verify: true }),
  },
  models: ['atlas', 'borealis'],
  prompts: { judge: 'Be fair.' },
};

const changed = (change: (machine: Machine) => Partial<Machine>): Machine => ({ ...desk, ...change(desk) });
const differences = (now: Machine) => compareMachines(desk, now).map(({ sentence }) => sentence);

describe('machine digest', () => {
  it('does not depend on where the machine comes from nor on the order in which names are declared', () => {
    const other: Machine = {
      ...desk,
      provenance: 'imported',
      states: Object.fromEntries(Object.entries(desk.states).reverse()),
      models: ['borealis', 'atlas'],
    };
    expect(machineDigestOf(other, testHash)).toBe(machineDigestOf(desk, testHash));
    expect(compareMachines(desk, other)).toEqual([]);
  });

  it('changes with every declared part', () => {
    const digests = [
      desk,
      changed(({ states }) => ({
        states: { ...states, plan: { transitions: ['lookup'], tools: ['search'] } },
      })),
      changed(({ states }) => ({
        states: { ...states, plan: { transitions: ['lookup', 'close'], tools: ['search'], version: '2' } },
      })),
      changed(({ tools }) => ({ tools: { ...tools, search: tool('pure') } })),
      changed(() => ({ models: ['atlas'] })),
      changed(() => ({ prompts: { judge: 'Be kind.' } })),
    ].map((machine) => machineDigestOf(machine, testHash));
    expect(new Set(digests).size).toBe(digests.length);
  });
});

describe('S16 compareMachines', () => {
  it('names a state that was added, one that is gone, and a transition that changed, and each blocks', () => {
    const { island: _gone, ...kept } = desk.states;
    const now = changed(() => ({
      states: {
        ...kept,
        review: { transitions: [], tools: [] },
        pay: { transitions: ['close', 'plan'], tools: ['refund', 'mail'] },
      },
    }));
    expect(differences(now)).toEqual([
      'State island is gone since the run was recorded.',
      'State pay: transitions changed from ["close"] to ["close","plan"].',
      'State review was added since the run was recorded.',
    ]);
    expect(compareMachines(desk, now).every(({ grade }) => grade === 'block')).toBe(true);
  });

  it('names a changed schema by its tool, whole, and an effect that changed its class', () => {
    const now = changed(({ tools }) => ({
      tools: {
        ...tools,
        refund: { ...tool('external', { keyed: true }), input: { type: 'object' } },
        fetch: tool('idempotent'),
      },
    }));
    expect(differences(now)).toEqual([
      'Tool fetch: effect changed from "read" to "idempotent".',
      'Tool refund: the schema of its input changed.',
    ]);
  });

  it('names a changed prompt and a changed model', () => {
    expect(differences(changed(() => ({ prompts: { judge: 'Be kind.' }, models: ['atlas'] })))).toEqual([
      'models changed from ["atlas","borealis"] to ["atlas"].',
      'Prompt judge changed from "Be fair." to "Be kind.".',
    ]);
  });
});

describe('reachFrom', () => {
  it('holds the state and all that may follow, through loops, and nothing else', () => {
    expect(reachFrom(desk, 'lookup').states).toEqual(['lookup', 'plan', 'pay', 'close']);
    expect(reachFrom(desk, 'close')).toEqual({ states: ['close'], tools: [] });
  });

  it('lists the tools of those states with their effects, and marks those whose provider knows no key', () => {
    const probed = changed(({ tools }) => ({
      tools: { ...tools, mail: { ...tool('external'), verify: true } },
    }));
    expect(reachFrom(probed, 'pay').tools).toMatchObject([
      { name: 'mail', guarded: false },
      { guarded: true },
    ]);
    expect(reachFrom(desk, 'pay').tools).toEqual([
      { name: 'mail', effect: 'external', states: ['pay'], guarded: false },
      { name: 'refund', effect: 'external', states: ['pay'], guarded: true },
    ]);
  });

  it('is only the state itself where the machine does not know it', () => {
    expect(reachFrom(testMachine, 'nowhere')).toEqual({ states: ['nowhere'], tools: [] });
  });
});
