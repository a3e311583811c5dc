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
  llms: {
    judge: { model: 'atlas', timeoutMs: 120_000, retries: 2 },
    writer: { model: 'borealis', timeoutMs: 120_000, retries: 2 },
  },
  prompts: { judge: 'Be fair.' },
};

const none = { model: '', timeoutMs: 0, retries: 0 };
/** As it was recorded before machines said which llm has which model. */
const older = ({ llms = {}, ...rest }: Machine): Machine => ({
  ...rest,
  models: Object.values(llms).map(({ model }) => model),
});
const changed = (change: (machine: Machine) => Partial<Machine>): Machine => ({ ...desk, ...change(desk) });
const differences = (now: Machine) => compareMachines(desk, now).map(({ sentence }) => sentence);

describe('machine digest', () => {
  it('does not depend on where the machine comes from nor on the order in which names are declared', () => {
    const other: Machine = {
      ...desk,
      provenance: 'imported',
      states: Object.fromEntries(Object.entries(desk.states).reverse()),
      llms: Object.fromEntries(Object.entries(desk.llms ?? {}).reverse()),
    };
    expect(machineDigestOf(other, testHash)).toBe(machineDigestOf(desk, testHash));
    expect(compareMachines(desk, other)).toEqual([]);
  });

  it('of a machine in its older form is what it was', () => {
    expect(machineDigestOf(older(desk), testHash)).toBe(
      '3424191edc0fa6f5469ab3c670ff04eba34feffcd4e82a1f8d16fdf2fdd84d20',
    );
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
      changed(({ llms = {} }) => ({
        llms: { judge: llms['writer'] ?? none, writer: llms['judge'] ?? none },
      })),
      changed(({ llms = {} }) => ({ llms: { ...llms, judge: { ...(llms['judge'] ?? none), retries: 0 } } })),
      changed(({ llms = {} }) => ({
        llms: { ...llms, judge: { ...(llms['judge'] ?? none), timeoutMs: 1 } },
      })),
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

  it('names a changed prompt, and the llm whose model or limits changed, though the models are the same ones', () => {
    const { judge = none, writer = none } = desk.llms ?? {};
    expect(differences(changed(() => ({ prompts: { judge: 'Be kind.' } })))).toEqual([
      'Prompt judge changed from "Be fair." to "Be kind.".',
    ]);
    expect(differences(changed(() => ({ llms: { judge: writer, writer: judge } })))).toEqual([
      'LLM judge: model changed from "atlas" to "borealis".',
      'LLM writer: model changed from "borealis" to "atlas".',
    ]);
    expect(differences(changed(() => ({ llms: { judge: { ...judge, timeoutMs: 5 } } })))).toEqual([
      'LLM judge: timeoutMs changed from 120000 to 5.',
      'LLM writer is gone since the run was recorded.',
    ]);
  });

  it('compares the models alone with a machine that does not say which llm has which', () => {
    const { judge = none } = desk.llms ?? {};
    expect(compareMachines(older(desk), desk)).toEqual([]);
    expect(compareMachines(desk, older(desk))).toEqual([]);
    const now = changed(() => ({ llms: { judge } }));
    expect(compareMachines(older(desk), now).map(({ sentence }) => sentence)).toEqual([
      'models changed from ["atlas","borealis"] to ["atlas"].',
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
