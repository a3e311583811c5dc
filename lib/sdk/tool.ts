import type { Llm, Tool, ToolOptions } from './api';
import { nameProblem, shownName } from './texts';

const DAY_MS = 86_400_000;

/** What a timer and a journal can hold. */
export const MOST = 2 ** 31 - 1;

/** A number that a timer and a journal can hold. */
export const isWholeNumber = (value: unknown, least: number): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= least && value <= MOST;

/** How long a model may take, and how often it is asked again. */
export const llmLimits = ({ timeoutMs = 120_000, retries = 2 }: Llm) => ({ timeoutMs, retries });

/** Declares a tool. Throws where the declaration contradicts itself. */
export function tool<Args, Result>(options: ToolOptions<Args, Result>): Tool {
  const external = options.effect === 'external';
  const declared = {
    timeoutMs: options.timeoutMs ?? 30_000,
    retries: options.retries ?? (external ? 0 : 2),
    settlesWithinMs: options.settlesWithinMs ?? 60_000,
    keyValidForMs: options.keyValidForMs ?? DAY_MS,
  };
  if (!['read', 'idempotent', 'external'].includes(options.effect)) {
    throw new TypeError(`tool: effect must be read, idempotent or external, not ${String(options.effect)}`);
  }
  if (typeof options.run !== 'function') throw new TypeError('tool: run must be a function');
  for (const [name, value] of Object.entries(declared)) {
    if (!isWholeNumber(value, name === 'timeoutMs' ? 1 : 0))
      throw new TypeError(`tool: ${name} must be a whole number of at most ${MOST}`);
  }
  if (options.effect === 'idempotent' && options.keyed === false) {
    throw new TypeError(
      'tool: an idempotent tool is repeated under its key, so it must be keyed; declare it external',
    );
  }
  const secrets: unknown = options.secrets ?? [];
  if (!Array.isArray(secrets)) throw new TypeError('tool: secrets must be a list of names');
  for (const secret of secrets) {
    const problem = secret === '__proto__' ? 'cannot be used as a name' : nameProblem(secret);
    if (problem !== undefined) throw new TypeError(`tool: secret ${shownName(secret)} ${problem}`);
  }
  if (options.effect === 'read' && options.verify !== undefined) {
    throw new TypeError('tool: a read changes nothing, so there is nothing to verify');
  }
  const { receipt, run, verify, ...rest } = options;
  return {
    ...rest,
    ...declared,
    keyed: options.keyed ?? options.effect === 'idempotent',
    // Arguments and results are recorded values by then; what they are is between the author and the tool.
    run: (args, call) => run(args as Args, call),
    ...(receipt === undefined ? {} : { receipt: (result: unknown) => receipt(result as Result) }),
    ...(verify === undefined ? {} : { verify: (args: unknown, call) => verify(args as Args, call) }),
  };
}
