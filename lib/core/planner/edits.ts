import { type StepKey, stepKey } from '../events/ids';
import type { Edit, RunEvent } from '../events/run-event';
import { within } from '../events/step-key';
import type { RunState, StepRecord } from '../projections/records';
import { hasOutcome } from '../projections/steps';
import { variableName } from '../projections/variables';
import { namesIn, pointerTo } from '../shared/json-pointer';
import { fail, ok, type Result } from '../shared/result';
import type { PlanMode } from './plan';

/** `offer`: the path that can be edited instead. */
export interface EditRefused {
  readonly kind: 'edit-refused';
  readonly path: string;
  readonly sentence: string;
  readonly offer?: string;
}

/** JSON Pointer of a step's output. */
export const outputPath = (key: StepKey): string => pointerTo('steps', key, 'result');

/** The step that a `/steps/<key>/result` names. */
export function editedStep(path: string): StepKey | undefined {
  const [area, key, part, ...deeper] = namesIn(path);
  const names = area === 'steps' && part === 'result' && deeper.length === 0;
  return names && key !== undefined ? stepKey(key) : undefined;
}

export interface EditInput {
  readonly mode: PlanMode;
  /** State at the point. */
  readonly at: RunState;
  /** Rows in force at the point. */
  readonly rows: readonly StepRecord[];
  /** Events of the point's open visit. */
  readonly visitEvents: readonly RunEvent[];
}

/**
 * Edits belong to a fork and are made where its open visit was entered: what that visit wrote itself would be written
 * again by its code, so there the output of the step that led to it is offered. Gives the steps whose output is edited.
 */
export function checkEdits(
  edits: readonly Edit[],
  input: EditInput,
): Result<ReadonlySet<string>, EditRefused> {
  const steps = new Set<string>();
  for (const edit of edits) {
    const refusal = refusalOf(edit, input);
    if (refusal) return fail(refusal);
    const key = editedStep(edit.path);
    if (key !== undefined) steps.add(key);
  }
  return ok(steps);
}

function refusalOf({ path }: Edit, input: EditInput): EditRefused | undefined {
  const refuse = (sentence: string, offer?: string): EditRefused => ({
    kind: 'edit-refused',
    path,
    sentence,
    ...(offer !== undefined && { offer }),
  });
  if (input.mode !== 'fork') return refuse('Edits make another run: fork instead.');
  const visit = input.at.visit;
  if (path === '/input' || path.startsWith('/input/')) {
    return visit === undefined
      ? undefined
      : refuse('The input can be edited before the first state only: fork from the start.');
  }
  if (path.startsWith('/variables/') && variableOf(path) !== '') {
    const name = variableOf(path);
    const write = input.visitEvents.findLast((event) => writes(event, name, visit?.key));
    if (write === undefined) return undefined;
    const step = input.rows.findLast(
      (row) =>
        visit !== undefined &&
        within(row.stepKey, visit.key) &&
        isEditable(row) &&
        (row.endedSeq ?? Number.POSITIVE_INFINITY) < write.seq,
    );
    return refuse(
      `The open visit ${visit?.key ?? ''} writes ${name} itself and would write it again${step ? `; edit the output of ${step.stepKey} instead` : ''}.`,
      step && outputPath(step.stepKey),
    );
  }
  const key = editedStep(path);
  if (key === undefined)
    return refuse('Not a path that can be edited: /variables/NAME, /input or /steps/KEY/result.');
  const row = input.rows.find((one) => one.stepKey === key);
  if (row === undefined || visit === undefined || !within(key, visit.key))
    return refuse('Only the output of a step of the open visit can be edited.');
  if (row.effect === 'pure') return refuse('A pure step is computed again; edit what it is computed from.');
  if (row.effect === 'external' || row.effect === 'idempotent')
    return refuse('The result of an effect is what happened; it cannot be edited.');
  return hasOutcome(row) ? undefined : refuse('The step has no recorded output at that point.');
}

const isEditable = (row: StepRecord): boolean =>
  hasOutcome(row) && row.effect !== 'pure' && row.effect !== 'external' && row.effect !== 'idempotent';

const variableOf = (path: string): string => variableName(path.slice('/variables'.length));

function writes(event: RunEvent, name: string, visit: string | undefined): boolean {
  if (event.kind !== 'variables.patched') return false;
  const inVisit =
    event.key === undefined ? event.by === 'worker' : visit !== undefined && within(event.key, visit);
  return inVisit && event.patch.some((one) => variableName(one.path) === name);
}
