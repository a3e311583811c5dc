import type { Json } from '../shared/canonical-json';

/**
 * What a step does to the world. `pure`: compute, condition. `read`: asks and changes nothing. `idempotent`: may be
 * repeated under the same key while the key is valid. `external`: irreversible.
 */
export type Effect = 'pure' | 'read' | 'idempotent' | 'external';

export type StepKind = 'llm' | 'tool' | 'retrieval' | 'condition' | 'compute' | 'human' | 'wait' | 'agent';

export interface MachineState {
  /** Names of the states that may follow; empty only in a final state. */
  readonly transitions: readonly string[];
  /** Names of the tools that the state may call. */
  readonly tools: readonly string[];
  readonly final?: boolean;
  /** Raised by the author when the code of the state changes its meaning. */
  readonly version?: string;
}

export interface ToolDeclaration {
  readonly effect: Effect;
  /** Declared idempotency key support downstream: an external tool without it is unguarded. */
  readonly keyed: boolean;
  readonly verify: boolean;
  readonly timeoutMs: number;
  readonly settlesWithinMs: number;
  readonly keyValidForMs: number;
  readonly retries: number;
  /** JSON Schemas of arguments and result, where declared. */
  readonly input?: Json;
  readonly result?: Json;
  readonly version?: string;
  readonly description?: string;
  /** Names of the secrets that it is given, in order. Their texts are never recorded. */
  readonly secrets?: readonly string[];
}

/** A model that states may ask, under the name that they ask it by. */
export interface LlmDeclaration {
  readonly model: string;
  readonly timeoutMs: number;
  readonly retries: number;
}

/**
 * An agent's finite state machine, as declared: everything that its digest covers. Function text is never part of it.
 * `provenance`: declared by the SDK, imported with a trace, or mined from one.
 */
export interface Machine {
  readonly agent: string;
  readonly provenance: 'declared' | 'imported' | 'mined';
  readonly initial: string;
  readonly states: Readonly<Record<string, MachineState>>;
  readonly tools: Readonly<Record<string, ToolDeclaration>>;
  readonly prompts?: Readonly<Record<string, string>>;
  readonly llms?: Readonly<Record<string, LlmDeclaration>>;
  /** The older form of `llms`, and all that a trace knows: models without the names that they are asked by. */
  readonly models?: readonly string[];
  /** How far one order may go beyond its record before it stops and asks. */
  readonly limits?: { readonly steps?: number; readonly costMicroUsd?: number };
  readonly checkpoints?: { readonly everySteps: number; readonly everyMs: number };
}

/** One named difference between the machine of a run and today's. */
export interface MachineDifference {
  readonly path: string;
  readonly grade: 'harmless' | 'warn' | 'block';
  readonly recorded?: Json;
  readonly now?: Json;
  readonly sentence: string;
}
