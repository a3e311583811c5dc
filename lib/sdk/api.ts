/*
 * The public types of `@rerail/sdk`. This file imports nothing, so that its declarations can be published as they are.
 */

/** What a tool does to the world. `external` is irreversible, `idempotent` may be repeated under the same key. */
export type ToolEffect = 'read' | 'idempotent' | 'external';

/** JSON text's content, for schemas. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };

/** What a tool is told about the call that it serves. */
export interface ToolCall {
  /** The same on every attempt and resume; `undefined` for reads. Send it downstream. */
  readonly idempotencyKey: string | undefined;
  /** Aborted at the tool's time-out. */
  readonly signal: AbortSignal;
  /** 1 for the first. */
  readonly attempt: number;
  readonly runId: string;
  readonly stepKey: string;
  /** The texts of the secrets that the tool declares, by name. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** Where a worker has secrets from. Nothing and an empty text both say that there is none. */
export type SecretSource = (name: string) => string | undefined | Promise<string | undefined>;

/** What a probe found out. `happened` carries the call's result, which the agent's code will be given. */
export type Verification<Result> =
  | { readonly outcome: 'happened'; readonly result: Result; readonly receipt?: string }
  | { readonly outcome: 'did-not-happen' }
  | { readonly outcome: 'unknown'; readonly note?: string };

/** How a tool is declared; what is left out has the default that is named beside it. Numbers are whole, at most 2,147,483,647. */
export interface ToolOptions<Args, Result> {
  readonly effect: ToolEffect;
  /** The downstream honours `idempotencyKey`. An external tool without that is unguarded. */
  readonly keyed?: boolean;
  /** Default 30,000. */
  readonly timeoutMs?: number;
  /** Attempts after the first. Default 2 for reads and idempotent tools, 0 for external ones. */
  readonly retries?: number;
  /** How long after its time-out a call may still take effect. Default 60,000. */
  readonly settlesWithinMs?: number;
  /** How long the downstream remembers a key. Default 24 h. */
  readonly keyValidForMs?: number;
  /** JSON Schema of the arguments. */
  readonly input?: JsonValue;
  /** JSON Schema of the result. */
  readonly result?: JsonValue;
  readonly version?: string;
  readonly description?: string;
  /**
   * Names of secrets that `run` and `verify` are given in `call.secrets`. They are asked for at each call and never
   * recorded: a value, an error or a receipt that holds the text of one is refused. Without one of them the call fails as
   * `not-sent`.
   */
  readonly secrets?: readonly string[];
  /** The downstream's own number for what it did. */
  readonly receipt?: (result: Result) => string | undefined;
  readonly run: (args: Args, call: ToolCall) => Promise<Result>;
  /** Asks the downstream whether the call with this key took effect. Changes nothing. */
  readonly verify?: (args: Args, call: ToolCall) => Promise<Verification<Result>>;
}

/** A declared tool; made by `tool()`. */
export interface Tool {
  readonly effect: ToolEffect;
  readonly keyed: boolean;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly settlesWithinMs: number;
  readonly keyValidForMs: number;
  readonly input?: JsonValue;
  readonly result?: JsonValue;
  readonly version?: string;
  readonly description?: string;
  readonly secrets?: readonly string[];
  readonly receipt?: (result: unknown) => string | undefined;
  readonly run: (args: unknown, call: ToolCall) => Promise<unknown>;
  readonly verify?: (args: unknown, call: ToolCall) => Promise<Verification<unknown>>;
}

/** One message of the run's conversation; other members are kept as they are. */
export interface Message {
  readonly role: string;
  readonly content?: unknown;
  readonly [member: string]: unknown;
}

/** A model's answer to one request: it is recorded whole, and returned on every resume and replay. */
export interface LlmReply {
  readonly message: Message;
  readonly usage?: {
    readonly inputTokens?: number;
    readonly outputTokens?: number;
    readonly costMicroUsd?: number;
  };
  readonly finish?: string;
}

/** Speaks to one provider. Throw `Unavailable`, `Rejected` or `NotSent` where that is known. */
export interface LlmClient {
  /** Asks a model once. `onText` takes streamed text, which is kept if the stream breaks and never reused. */
  complete(
    request: unknown,
    call: { readonly signal: AbortSignal; readonly onText: (text: string) => void },
  ): Promise<LlmReply>;
}

/** A model that states may ask, by its name in `AgentOptions.llms`. */
export interface Llm {
  readonly client: LlmClient;
  readonly model: string;
  /** Default 120,000. */
  readonly timeoutMs?: number;
  /** Default 2. */
  readonly retries?: number;
}

/** One state of the machine, and the code of its visits. */
export interface AgentState {
  /** Names of the states that may follow. */
  readonly to: readonly string[];
  /** Names of the tools that the state may call. */
  readonly tools?: readonly string[];
  readonly final?: boolean;
  /** Raise it when the code of the state changes its meaning. */
  readonly version?: string;
  /** Resolves to the next state's name; in a final state, to the run's result. */
  readonly run: (ctx: Context) => Promise<unknown>;
}

/**
 * How far a resume, a rewind or a fork may go beyond the record before it pauses and asks; resuming allows as much again.
 * A run that nobody ordered (a start, or one that goes on after an answer or a hand-over) has no such limit.
 */
export interface OrderLimits {
  /** Calls that begin: whatever is a step, without retries. */
  readonly steps?: number;
  /**
   * Millionths of a US dollar, as models' replies tell them. A call's cost is known once it has answered: no model is
   * asked any more from there on.
   */
  readonly costMicroUsd?: number;
}

/** How an agent is declared: its machine, and everything that it may reach. */
export interface AgentOptions {
  readonly name: string;
  readonly initial: string;
  readonly states: Readonly<Record<string, AgentState>>;
  readonly tools?: Readonly<Record<string, Tool>>;
  readonly llms?: Readonly<Record<string, Llm>>;
  readonly prompts?: Readonly<Record<string, string>>;
  /** Besides one before every external call. Default every 3 steps and every 30 s. */
  readonly checkpoints?: { readonly everySteps?: number; readonly everyMs?: number };
  /** Effects in doubt are probed by the worker itself. Default false: a person asks. */
  readonly autoVerify?: boolean;
  /** Of each order. Default: none. */
  readonly limits?: OrderLimits;
}

/** A declared agent; made by `defineAgent()`. */
export interface Agent {
  readonly name: string;
  readonly initial: string;
  readonly states: Readonly<Record<string, AgentState>>;
  readonly tools: Readonly<Record<string, Tool>>;
  readonly llms: Readonly<Record<string, Llm>>;
  readonly prompts: Readonly<Record<string, string>>;
  readonly checkpoints: { readonly everySteps: number; readonly everyMs: number };
  readonly autoVerify: boolean;
  readonly limits: OrderLimits;
}

/** What a person is asked. */
export interface Question {
  readonly prompt: string;
  /** JSON Schema of the answer; the console makes a form of it. */
  readonly schema?: JsonValue;
  /** Epoch milliseconds after which an answer is no longer of use. */
  readonly until?: number;
}

/** The run's variables. A value read is a copy; only `set` changes it. */
export interface Variables {
  get(name: string): unknown;
  /** Throws a `NotRecordable` that names the path of what cannot be recorded. */
  set(name: string, value: unknown): void;
  delete(name: string): void;
  all(): Record<string, unknown>;
}

/** The run's conversation, appended to and never rewritten. */
export interface Messages {
  append(message: Message): void;
  list(): Message[];
}

/**
 * What a scope's code sees: a state's handler has one, and each branch of `parallel` one of its own. Every call is
 * recorded under a key made from the scope, the name and the occurrence. Code between calls runs again on a resume, so
 * it must be deterministic, silent, and await nothing but context calls.
 */
export interface Context {
  /** The run's input. */
  readonly input: unknown;
  /** Calls a tool that the state declares. A final failure rejects with `StepFailed`. */
  tool<Result = unknown>(name: string, args?: unknown): Promise<Result>;
  /**
   * Asks a model. Messages of the conversation that the request's `messages` begins with are not recorded again, nor is
   * the reply's `message` when it is appended to the conversation as it is.
   */
  llm(name: string, request: unknown): Promise<LlmReply>;
  /** Calls a `read` tool and records it as a retrieval. */
  retrieve<Result = unknown>(name: string, args?: unknown): Promise<Result>;
  /** Runs a pure, synchronous function of `input`, in every mode. */
  compute<Input, Result>(name: string, input: Input, fn: (input: Input) => Result): Promise<Result>;
  condition<Input>(name: string, input: Input, fn: (input: Input) => boolean): Promise<boolean>;
  /** Runs branches at once. When all have ended, rejects with the first failure in the order of declaration. */
  parallel<Branches extends Readonly<Record<string, (ctx: Context) => Promise<unknown>>>>(
    name: string,
    branches: Branches,
  ): Promise<{ [Name in keyof Branches]: Awaited<ReturnType<Branches[Name]>> }>;
  readonly vars: Variables;
  readonly messages: Messages;
  /** Asks a person; resolves to the answer, however much later. */
  ask<Answer = unknown>(name: string, question: Question): Promise<Answer>;
  /** Epoch milliseconds, recorded. */
  now(): number;
  /** In [0, 1), recorded. */
  random(): number;
  /** A UUID, recorded. */
  id(): string;
  /** Saves a checkpoint here. */
  checkpoint(): void;
  /** Aborted when the run stops in this process. */
  readonly signal: AbortSignal;
}

/** How an attempt ended without a result. Only `rejected` and `not-sent` are definite. */
export type FailureKind = 'timeout' | 'unavailable' | 'rejected' | 'not-sent' | 'error';

/** How a worker is started. Times are in milliseconds. */
export interface WorkerOptions {
  /** The console's address, `http://127.0.0.1:3000`. */
  readonly console: string | URL;
  /** Sent as a bearer token. Default `RERAIL_TOKEN`. */
  readonly token?: string;
  /** Default: host name, process id and a random part. */
  readonly workerId?: string;
  /** Modules that export agents. They are loaded by URL, since a replay loads them in a process of its own. */
  readonly agents: readonly (string | URL)[];
  /** Runs held at once. Default 64. */
  readonly maxRuns?: number;
  /** Most events sent in one batch. Default 500, or `RERAIL_BATCH`. */
  readonly batchSize?: number;
  /** Back-off between attempts. Default 1,000 and 10,000. */
  readonly backoff?: { readonly baseMs: number; readonly capMs: number };
  /** Resolves the secrets that tools declare. Default: the environment variable of that name. */
  readonly secrets?: SecretSource;
  /** How long code that awaits something foreign may keep a re-entry waiting. Default 2,000. */
  readonly graceMs?: number;
  /**
   * SIGTERM and SIGINT hand over every run and end the process; a second SIGINT ends it at once, and effects that are
   * out by then are in doubt. Default true.
   */
  readonly handleSignals?: boolean;
  /** Takes what went wrong without stopping a run. Default: standard error. */
  readonly onWarning?: (warning: string) => void;
  /** Called synchronously at named points, for tests that kill the process there. */
  readonly onPoint?: (point: string) => void;
}

/** How a run is started. */
export interface StartOptions {
  readonly input?: unknown;
  readonly runId?: string;
  readonly tags?: readonly string[];
}

/** A worker that takes runs. */
export interface Worker {
  readonly workerId: string;
  /** Creates a run and executes it here. Resolves once the run is recorded. */
  start(agent: string, options?: StartOptions): Promise<{ readonly runId: string }>;
  /**
   * Hands over every run: abandons reads, waits for effects in flight, flushes, releases. A console that cannot be
   * reached is waited for five seconds; the runs are then left as they are, to be resumed once their leases lapsed.
   */
  stop(): Promise<void>;
}
