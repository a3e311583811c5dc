import type { SecretSource, Tool } from './api';
import type { Clock } from './clock';
import type { Hub } from './hub';
import type { Operation } from './operation';
import { keepUnrecorded, withoutSecrets } from './secret-texts';
import { bounded, textOf } from './texts';

/** A tool's secrets by name, or why one of them cannot be had, as a sentence. */
export type Secrets =
  | { readonly ok: true; readonly values: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly why: string };

export const noSecrets: Secrets = { ok: true, values: {} };

/**
 * Begins an attempt with what its tool declares: at once where that is nothing, else once it was asked for, where the
 * attempt may still begin then and no other one has.
 */
export function withSecrets(
  hub: Hub,
  op: Operation,
  tool: Tool | undefined,
  attempt: { readonly mayBegin: () => boolean; readonly begin: (secrets: Secrets) => void },
): void {
  if (!attempt.mayBegin()) return;
  const { tries } = op;
  const asked = tool && secretsOf(tool, hub.secrets, hub.clock);
  if (asked === undefined) {
    attempt.begin(noSecrets);
    return;
  }
  hub.background(
    asked.then((secrets) =>
      hub.guard(() => {
        if (op.tries === tries && attempt.mayBegin()) attempt.begin(secrets);
      }),
    ),
  );
}

/** Asks for what a tool declares, anew at each call, for as long as the tool itself may take; nothing where it declares none. */
export function secretsOf(
  { secrets: names = [], timeoutMs }: Tool,
  source: SecretSource,
  clock: Clock,
): Promise<Secrets> | undefined {
  if (names.length === 0) return undefined;
  let cancel: () => void = () => undefined;
  const late = new Promise<Secrets>((resolve) => {
    cancel = clock.after(timeoutMs, () =>
      resolve({ ok: false, why: `${listed(names)} could not be had within ${timeoutMs} ms` }),
    );
  });
  return Promise.race([ask(names, source), late]).finally(() => cancel());
}

async function ask(names: readonly string[], source: SecretSource): Promise<Secrets> {
  const values: Record<string, string> = {};
  for (const name of names) {
    let text: unknown;
    try {
      text = await source(name);
    } catch (error) {
      return {
        ok: false,
        why: bounded(`${listed([name])} could not be had: ${withoutSecrets(textOf(() => error))}`),
      };
    }
    if (typeof text !== 'string' || text === '')
      return { ok: false, why: `${listed([name])} is not set where the worker runs` };
    keepUnrecorded(name, text);
    values[name] = text;
  }
  return { ok: true, values: Object.freeze(values) };
}

const listed = (names: readonly string[]) =>
  names.length === 1 ? `the secret ${names[0]}` : `the secrets ${names.join(', ')}`;
