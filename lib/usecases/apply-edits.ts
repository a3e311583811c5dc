import type { Payload, PayloadRef } from '@/lib/core/events/payload';
import type { Edit, VariablePatch } from '@/lib/core/events/run-event';
import type { EditRefused } from '@/lib/core/planner/edits';
import type { RunState } from '@/lib/core/projections/records';
import type { Json } from '@/lib/core/shared/canonical-json';
import { namesIn, pointerTo } from '@/lib/core/shared/json-pointer';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { jsonOf, jsonPayload, refOf } from './payload-of';
import { setAtPointer } from './set-at-pointer';

/** What the edits come to where the fork begins. */
export interface Edited {
  readonly input: PayloadRef | undefined;
  readonly patch: readonly VariablePatch[];
  readonly payloads: readonly Payload[];
}

export const noEdits: Edited = { input: undefined, patch: [], payloads: [] };

/**
 * Edits as whole new values of what they touch. A step's output is not written here: it travels with the order, and
 * the worker answers that step with it.
 */
export async function applyEdits(
  deps: Pick<UsecaseDeps, 'store' | 'hash'>,
  state: RunState,
  edits: readonly Edit[],
): Promise<Result<Edited, EditRefused>> {
  const values = new Map<string, Json>();
  let input: Json | undefined;
  for (const edit of edits) {
    const [kind, ...segments] = namesIn(edit.path);
    if (kind === 'steps') continue;
    if (kind !== 'input' && kind !== 'variables')
      return refusedEdit(edit, 'Only /input, /variables/… and /steps/…/result can be edited.');
    const [name = '', ...deeper] = kind === 'variables' ? segments : ['', ...segments];
    const recorded =
      kind === 'input'
        ? state.input
        : Object.hasOwn(state.variables, name)
          ? state.variables[name]
          : undefined;
    const before = kind === 'input' ? input : values.get(name);
    // An edit may have made it `null`, which leads nowhere.
    const base = before !== undefined ? before : deeper.length === 0 ? null : await jsonAt(deps, recorded);
    const after = base === undefined ? undefined : setAtPointer(base, deeper, edit.value);
    if (after === undefined) return refusedEdit(edit, 'The path leads through something that is not there.');
    if (kind === 'input') input = after;
    else values.set(name, after);
  }
  const payloads: Payload[] = [];
  const keep = (value: Json): PayloadRef => {
    const payload = jsonPayload(value, deps.hash);
    payloads.push(payload);
    return refOf(payload);
  };
  const patch = [...values].map(
    ([name, value]): VariablePatch => ({
      op: Object.hasOwn(state.variables, name) ? 'replace' : 'add',
      path: pointerTo(name),
      value: keep(value),
    }),
  );
  return ok({ input: input === undefined ? undefined : keep(input), patch, payloads });
}

const refusedEdit = (edit: Edit, sentence: string) =>
  fail({ kind: 'edit-refused', path: edit.path, sentence } as const);

async function jsonAt(
  deps: Pick<UsecaseDeps, 'store'>,
  ref: PayloadRef | undefined,
): Promise<Json | undefined> {
  return ref === undefined ? undefined : jsonOf(ref, await deps.store.payloads.get(ref.sha256));
}
