import { stepKey } from '../core/events/ids';
import type { NewEvent } from '../core/events/run-event';
import { pointerTo } from '../core/shared/json-pointer';
import type { Context, LlmReply, Message, Messages, Question, Tool, Variables } from './api';
import { AgentCodeError } from './errors';
import type { Work } from './operation';
import type { RunSession } from './run-session';
import type { Scope } from './scope';
import { read, store } from './values';

/** What agent code sees: one for each scope, so that keys are minted where they belong. */
export class ContextOfScope implements Context {
  readonly vars: Variables;
  readonly messages: Messages;
  private readonly session: RunSession;
  private readonly scope: Scope;
  private readonly state: string;

  constructor(session: RunSession, scope: Scope, state: string) {
    this.session = session;
    this.scope = scope;
    this.state = state;
    this.vars = variablesIn(session, scope);
    this.messages = messagesIn(session, scope);
  }

  get input(): unknown {
    return this.session.input === undefined ? undefined : read(this.session.input);
  }

  get signal(): AbortSignal {
    return this.session.signal;
  }

  tool<Result>(name: string, args?: unknown): Promise<Result> {
    return this.declared(name, args, 'tool') as Promise<Result>;
  }

  retrieve<Result>(name: string, args?: unknown): Promise<Result> {
    return this.declared(name, args, 'retrieval') as Promise<Result>;
  }

  llm(name: string, request: unknown): Promise<LlmReply> {
    const llm = this.session.agent.llms[name];
    if (llm === undefined) return Promise.reject(new AgentCodeError(`llm ${name} is not declared`));
    return this.call(name, 'llm', 'read', request, { kind: 'llm', llm }) as Promise<LlmReply>;
  }

  compute<Input, Result>(name: string, input: Input, fn: (input: Input) => Result): Promise<Result> {
    return this.pure(name, 'compute', input, fn) as Promise<Result>;
  }

  condition<Input>(name: string, input: Input, fn: (input: Input) => boolean): Promise<boolean> {
    return this.pure(name, 'condition', input, (value: Input) => Boolean(fn(value))) as Promise<boolean>;
  }

  ask<Answer>(name: string, question: Question): Promise<Answer> {
    return this.call(name, 'human', undefined, question, { kind: 'human', question }) as Promise<Answer>;
  }

  async parallel<Branches extends Readonly<Record<string, (ctx: Context) => Promise<unknown>>>>(
    name: string,
    branches: Branches,
  ): Promise<{ [Name in keyof Branches]: Awaited<ReturnType<Branches[Name]>> }> {
    checkName(name);
    const at = this.scope.mint(name);
    const ended = await Promise.allSettled(
      Object.entries(branches).map(([branch, run]) =>
        this.session.inScope(this.session.branch(this.scope, at, branch), run, this.state),
      ),
    );
    const failed = ended.find((end) => end.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    const values = ended.map((end) => (end.status === 'fulfilled' ? end.value : undefined));
    return Object.fromEntries(Object.keys(branches).map((branch, index) => [branch, values[index]])) as {
      [Name in keyof Branches]: Awaited<ReturnType<Branches[Name]>>;
    };
  }

  now(): number {
    return Number(this.draw('time', '$time', () => this.session.clock.now()));
  }

  random(): number {
    return Number(this.draw('random', '$random', () => this.session.clock.random()));
  }

  id(): string {
    return String(this.draw('id', '$id', () => this.session.clock.uuid()));
  }

  checkpoint(): void {
    this.session.saveCheckpoint();
  }

  private draw(of: 'time' | 'random' | 'id', name: string, fresh: () => number | string): number | string {
    const key = this.scope.mint(name);
    const value = fresh();
    const recorded = this.session.sync(key, { kind: 'value.recorded', key, of, value });
    return recorded?.kind === 'value.recorded' ? recorded.value : value;
  }

  private pure(
    name: string,
    step: 'compute' | 'condition',
    input: unknown,
    fn: (input: never) => unknown,
  ): Promise<unknown> {
    if (typeof fn !== 'function')
      return Promise.reject(new AgentCodeError(`${step} ${name} needs a function`));
    // The function sees a copy, as the record has it: what it was given cannot change behind its back.
    const run = () => fn(read(store(input, `the input of ${name}`)) as never);
    return this.call(name, step, 'pure', input, { kind: 'pure', run });
  }

  private declared(name: string, args: unknown, step: 'tool' | 'retrieval'): Promise<unknown> {
    const tool: Tool | undefined = this.session.agent.tools[name];
    const mayCall = this.session.agent.states[this.state]?.tools?.includes(name) ?? false;
    if (tool === undefined || !mayCall) {
      return Promise.reject(new AgentCodeError(`state ${this.state} does not declare tool ${name}`));
    }
    if (step === 'retrieval' && tool.effect !== 'read') {
      return Promise.reject(new AgentCodeError(`${name} is ${tool.effect}; retrieve() takes read tools`));
    }
    return this.call(name, step, tool.effect, args, { kind: 'tool', tool });
  }

  private call(
    name: string,
    step: 'tool' | 'retrieval' | 'llm' | 'compute' | 'condition' | 'human',
    effect: 'pure' | 'read' | 'idempotent' | 'external' | undefined,
    args: unknown,
    work: Work,
  ): Promise<unknown> {
    try {
      checkName(name);
    } catch (error) {
      return Promise.reject(error);
    }
    return this.session.call(this.scope, { name, step, effect, args, work });
  }
}

function checkName(name: string): void {
  const bad = typeof name !== 'string' || name.length === 0 || name.length > 256 || name.startsWith('$');
  if (bad)
    throw new AgentCodeError(
      `${JSON.stringify(name)} is no name for a step: 1 to 256 characters that do not begin with $`,
    );
}

function variablesIn(session: RunSession, scope: Scope): Variables {
  const { variables } = session.view;
  return {
    get: (name) => {
      const stored = variables.get(name);
      return stored === undefined ? undefined : read(stored);
    },
    set: (name, value) => {
      const stored = store(value, `variable ${name}`);
      const key = scope.mint('$set');
      const op = variables.has(name) ? 'replace' : 'add';
      patch(
        session,
        { kind: 'variables.patched', key, patch: [{ op, path: pointerTo(name), value: stored.ref }] },
        [stored],
      );
      variables.set(name, stored);
    },
    delete: (name) => {
      if (!variables.has(name)) return;
      const key = scope.mint('$set');
      patch(
        session,
        { kind: 'variables.patched', key, patch: [{ op: 'remove', path: pointerTo(name) }] },
        [],
      );
      variables.delete(name);
    },
    all: () => Object.fromEntries([...variables].map(([name, stored]) => [name, read(stored)])),
  };
}

const patch = (
  session: RunSession,
  event: NewEvent & { readonly key?: string },
  payloads: Parameters<RunSession['sync']>[2],
) => session.sync(String(event.key), event, payloads);

function messagesIn(session: RunSession, scope: Scope): Messages {
  const { messages } = session.view;
  return {
    append: (message: Message) => {
      if (typeof message?.role !== 'string' || message.role === '') {
        throw new AgentCodeError('a message needs a role');
      }
      const stored = store(message, 'the message');
      const key = stepKey(scope.mint('$msg'));
      session.sync(key, { kind: 'message.appended', key, role: message.role, message: stored.ref }, [stored]);
      messages.push(stored);
    },
    list: () => messages.map((stored) => read(stored) as Message),
  };
}
