import { epoch, type RunId, type Seq, seq } from '../events/ids';
import type { EventBody, RunEvent } from '../events/run-event';
import { endedBy, unhandledAfter } from '../projections/went-on';
import { assertNever } from '../shared/assert';
import type { Draft } from './extend';

/**
 * Copies for a fork: those events of the parent's effective path up to the point that make state (not leases, commands,
 * stops), with references remapped to the new run's numbering. `firstSeq`: seq that the first copy will get.
 * Append with `extend(…, { snapshotAtEnd: true })`; the ledger passes over inherited intents.
 */
export function inheritEvents(parent: RunId, path: readonly RunEvent[], firstSeq: Seq): readonly Draft[] {
  const copied = path.filter((event) => isInherited(event.kind));
  const renumbered = new Map<Seq, Seq>();
  for (const [index, event] of copied.entries()) renumbered.set(event.seq, seq(firstSeq + index));
  const tried = endings(path);
  return copied.map((event) => {
    const {
      runId: _runId,
      seq: at,
      epoch: _epoch,
      version: _version,
      inherited: _inherited,
      ...rest
    } = event;
    const body = rest as EventBody;
    // The stop itself is not copied, so the failure that led to it is no outcome either: the fork tries the step again.
    const again = body.kind === 'step.failed' && tried.has(at) ? { ...body, final: false } : body;
    return {
      ...remapped(again, parent, renumbered),
      at: event.at,
      by: event.by,
      epoch: epoch(0),
      inherited: { runId: parent, seq: at },
    };
  });
}

/** Final failures that ended the run rather than being an outcome that its code went on from. */
function endings(path: readonly RunEvent[]): ReadonlySet<Seq> {
  const found = new Set<Seq>();
  let unhandled: Readonly<Record<string, Seq>> = {};
  for (const event of path) {
    unhandled = unhandledAfter(unhandled, event, ({ seq }) => seq);
    if (event.kind !== 'run.failed' || event.cause !== 'error') continue;
    const culprit = endedBy(unhandled, event.stepKey);
    if (culprit !== undefined) found.add(culprit);
  }
  return found;
}

/** Whether a fork copies events of this kind. */
export function isInherited(kind: RunEvent['kind']): boolean {
  switch (kind) {
    case 'run.started':
    case 'state.entered':
    case 'state.left':
    case 'scope.left':
    case 'step.started':
    case 'step.completed':
    case 'step.failed':
    case 'step.reused':
    case 'step.skipped':
    case 'value.recorded':
    case 'api.unavailable':
    case 'api.recovered':
    case 'variables.patched':
    case 'message.appended':
    case 'context.compacted':
    case 'checkpoint.saved':
    case 'effect.verified':
    case 'effect.decided':
    case 'effect.conflict':
    case 'question.asked':
    case 'question.answered':
    case 'question.expired':
      return true;
    case 'run.queued':
    case 'run.waiting':
    case 'run.paused':
    case 'run.interrupted':
    case 'run.resumed':
    case 'run.rewound':
    case 'run.completed':
    case 'run.failed':
    case 'run.cancelled':
    case 'command.accepted':
    case 'command.ended':
    case 'divergence.found':
      return false;
    default:
      return assertNever(kind, 'event kind');
  }
}

/** The body with every seq that it names in the new run's numbering; what was not copied stays named in the parent. */
function remapped(body: EventBody, parent: RunId, renumbered: ReadonlyMap<Seq, Seq>): EventBody {
  const at = (old: Seq): Seq => renumbered.get(old) ?? old;
  switch (body.kind) {
    case 'checkpoint.saved': {
      const { intentSeq, ...rest } = body;
      const intent = intentSeq === undefined ? undefined : renumbered.get(intentSeq);
      return {
        ...rest,
        trigger: 'inherited',
        entrySeq: newestUpTo(renumbered, body.entrySeq),
        othersSeq: newestUpTo(renumbered, body.othersSeq),
        ...(intent !== undefined && { intentSeq: intent }),
      };
    }
    case 'step.started': {
      const before = body.endedBefore;
      return before === undefined
        ? body
        : { ...body, endedBefore: { ...before, startedSeq: at(before.startedSeq) } };
    }
    case 'step.reused':
    case 'step.skipped': {
      if (body.sourceSeq === undefined || (body.sourceRunId !== undefined && body.sourceRunId !== parent))
        return body;
      const source = renumbered.get(body.sourceSeq);
      if (source === undefined) return { ...body, sourceRunId: parent };
      const { sourceRunId, ...rest } = body;
      // An answer from the ledger keeps its source's run, which tells it from a resume's thin note.
      return sourceRunId === undefined ? { ...rest, sourceSeq: source } : body;
    }
    case 'effect.verified':
      return { ...body, intentSeq: at(body.intentSeq) };
    case 'effect.decided':
      return { ...body, decision: { ...body.decision, intentSeq: at(body.decision.intentSeq) } };
    default:
      return body;
  }
}

/** The copy of `old`, or of the last event before it that was copied; 0 where there is none. */
function newestUpTo(renumbered: ReadonlyMap<Seq, Seq>, old: Seq): Seq {
  for (let at = old as number; at > 0; at--) {
    const copy = renumbered.get(seq(at));
    if (copy !== undefined) return copy;
  }
  return seq(0);
}
