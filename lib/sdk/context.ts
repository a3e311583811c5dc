import { stepKey } from '../core/events/ids';
import type { NewEvent } from '../core/events/run-event';
import { pointerTo } from '../core/shared/json-pointer';
import type { Context, LlmReply, Message, Messages, Question, Tool, Variables } from './api';
import { AgentCodeError, Stopped } from './errors';
import { refused, type Work } from './operation';
import type { RunSession } from './run-session';
import type { Scope } from './scope';
import { LONGEST_PATH, nameProblem, shownName, stepNameProblem } from './texts';
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
    const { llms } = this.session.agent;
    const llm = Object.hasOwn(llms, name) ? llms[name] : undefined;
    if (llm === undefined) return refused(new AgentCodeError(`llm ${shownName(name)} is not declared`));
    return this.call(name, 'llm', 'read', request, { kind: 'llm', llm }) as Promise<LlmReply>;
  }

  compute<Input, Result>(name: string, input: Input, fn: (input: Input) => Result): Promise<Result> {
    return this.pure(name, 'compute', input, fn) as Promise<Result>;
  }

  condition<Input>(name: string, input: Input, fn: (input: Input) => boolean): Promise<boolean> {
    return this.pure(name, 'condition', input, (value: Input) => Boolean(fn(value))) as Promise<boolean>;
  }

  ask<Answer>(name: string, question: Question): Promise<Answer> {
    const wrong = questionProblem(question);
    if (wrong !== undefined) return refused(new AgentCodeError(`the question ${shownName(name)} ${wrong}`));
    return this.call(name, 'human', undefined, question, { kind: 'human', question }) as Promise<Answer>;
  }

  parallel<Branches extends Readonly<Record<string, (ctx: Context) => Promise<unknown>>>>(
    name: string,
    branches: Branches,
  ): Promise<{ [Name in keyof Branches]: Awaited<ReturnType<Branches[Name]>> }> {
    const results = this.inBranches(name, branches);
    // As with a call: code that goes on without the answer leaves no unhandled rejection.
    results.catch(() => undefined);
    return results as Promise<{ [Name in keyof Branches]: Awaited<ReturnType<Branches[Name]>> }>;
  }

  private async inBranches(
    name: string,
    branches: Readonly<Record<string, (ctx: Context) => Promise<unknown>>>,
  ): Promise<Readonly<Record<string, unknown>>> {
    checkName(name);
    orStop(this.scope);
    const entries = Object.entries(branches);
    for (const [branch] of entries) {
      const wrong = nameProblem(branch, 0);
      if (wrong !== undefined) throw new AgentCodeError(`branch ${shownName(branch)} of ${name} ${wrong}`);
    }
    const scopes = this.session.book.branches(
      this.scope,
      name,
      entries.map(([branch]) => branch),
    );
    const ended = await Promise.allSettled(
      entries.map(([, run], index) => this.session.inScope(scopes[index] as Scope, run, this.state)),
    );
    await this.session.untilReleased(this.scope);
    const failed = ended.find((end) => end.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    const values = ended.map((end) => (end.status === 'fulfilled' ? end.value : undefined));
    return Object.fromEntries(entries.map(([branch], index) => [branch, values[index]]));
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
    orStop(this.scope);
    const key = this.scope.mint(name);
    const value = fresh();
    const recorded = this.session.book.sync(key, { kind: 'value.recorded', key, of, value });
    return recorded?.kind === 'value.recorded' ? recorded.value : value;
  }

  private pure(
    name: string,
    step: 'compute' | 'condition',
    input: unknown,
    run: (input: never) => unknown,
  ): Promise<unknown> {
    if (typeof run !== 'function')
      return refused(new AgentCodeError(`${step} ${shownName(name)} needs a function`));
    return this.call(name, step, 'pure', input, { kind: 'pure', run: run as (input: unknown) => unknown });
  }

  private declared(name: string, args: unknown, step: 'tool' | 'retrieval'): Promise<unknown> {
    const { tools, states } = this.session.agent;
    const tool: Tool | undefined = Object.hasOwn(tools, name) ? tools[name] : undefined;
    const mayCall = states[this.state]?.tools?.includes(name) ?? false;
    if (tool === undefined || !mayCall) {
      return refused(new AgentCodeError(`state ${this.state} does not declare tool ${shownName(name)}`));
    }
    if (step === 'retrieval' && tool.effect !== 'read') {
      return refused(new AgentCodeError(`${name} is ${tool.effect}; retrieve() takes read tools`));
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
      return refused(error);
    }
    return this.session.book.call(this.scope, { name, step, effect, args, work });
  }
}

/** Nothing is recorded for a scope that has ended: code of it that still runs is unwound. */
function orStop(scope: Scope): void {
  if (scope.over) throw new Stopped();
}

function checkName(name: unknown): void {
  const wrong = stepNameProblem(name);
  if (wrong !== undefined) throw new AgentCodeError(`${shownName(name)} is no name for a step: it ${wrong}`);
}

function questionProblem(question: unknown): string | undefined {
  if (typeof question !== 'object' || question === null || !('prompt' in question)) return 'needs a prompt';
  const { prompt, until }: { readonly prompt: unknown; readonly until?: unknown } = question;
  if (typeof prompt !== 'string') return 'needs a prompt that is text';
  const isInstant =
    until === undefined ||
    (typeof until === 'number' && Number.isInteger(until) && until >= 0 && until <= END_OF_TIME);
  return isInstant
    ? undefined
    : `has an “until” that is no whole number of epoch milliseconds: ${shownName(until)}`;
}

/** Last instant of a `Date`. */
const END_OF_TIME = 8_640_000_000_000_000;

/** The path of a variable, in JSON Pointer. */
function pathTo(name: unknown): string {
  if (typeof name !== 'string')
    throw new AgentCodeError(`${shownName(name)} is no name for a variable: it must be text`);
  const path = pointerTo(name);
  if (path.length > LONGEST_PATH)
    throw new AgentCodeError(
      `${shownName(name)} is too long a name for a variable: ${path.length} characters, at most ${LONGEST_PATH}`,
    );
  return path;
}

function variablesIn(session: RunSession, scope: Scope): Variables {
  const { variables } = session.view;
  return {
    get: (name) => {
      const stored = variables.get(name);
      return stored === undefined ? undefined : read(stored);
    },
    set: (name, value) => {
      orStop(scope);
      const path = pathTo(name);
      const stored = store(value, `variable ${name}`);
      const key = scope.mint('$set');
      const op = variables.has(name) ? 'replace' : 'add';
      patch(session, { kind: 'variables.patched', key, patch: [{ op, path, value: stored.ref }] }, [stored]);
      variables.set(name, stored);
    },
    delete: (name) => {
      orStop(scope);
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
  payloads: Parameters<RunSession['book']['sync']>[2],
) => session.book.sync(String(event.key), event, payloads);

function messagesIn(session: RunSession, scope: Scope): Messages {
  const { messages } = session.view;
  return {
    append: (message: Message) => {
      orStop(scope);
      const wrong = nameProblem(message?.role);
      if (wrong !== undefined) throw new AgentCodeError(`the role of a message ${wrong}`);
      const stored = store(message, 'the message');
      const key = stepKey(scope.mint('$msg'));
      session.book.sync(key, { kind: 'message.appended', key, role: message.role, message: stored.ref }, [
        stored,
      ]);
      messages.push(stored);
    },
    list: () => messages.map((stored) => read(stored) as Message),
  };
}
