import { type Action, type ActionName, conflictsOf } from '@/lib/core/planner/actions';
import type { Page } from '@/lib/usecases/ports';
import type { RunView } from '@/lib/usecases/run-view';
import type { RunSummary } from '@/lib/wire/v1/runs';
import { iso, isoOrNull, orNull } from './common';
import { presentQuestion } from './rows';

/** A run as list, page and stream show it. */
export function presentRun(view: RunView): RunSummary {
  const { run, status } = view;
  const { state } = run;
  return {
    id: run.runId,
    status,
    phase: view.phase,
    agent: state.agent,
    machineDigest: orNull(state.machineDigest),
    tags: [...state.tags],
    source: run.source,
    home: run.home,
    lineage: {
      root: run.root,
      parent: orNull(run.parent),
      children: [...view.children.newest],
      childCount: view.children.total,
    },
    headSeq: run.headSeq,
    edition: run.edition,
    epoch: run.epoch,
    line: state.line,
    createdAt: iso(run.createdAt),
    updatedAt: iso(run.updatedAt),
    startedAt: isoOrNull(state.startedAt),
    endedAt: isoOrNull(state.endedAt),
    holder: holderOf(view),
    pending:
      state.pending === undefined
        ? null
        : { commandId: state.pending.commandId, mode: state.pending.mode, actor: state.pending.actor },
    questions: view.questions.map((question) => presentQuestion(question, true)),
    visit:
      state.visit === undefined
        ? null
        : { state: state.visit.state, visit: state.visit.visit, key: state.visit.key },
    counts: {
      events: run.headSeq,
      steps: state.counts.steps,
      visits: state.counts.visits,
      checkpoints: state.counts.checkpoints,
      failedAttempts: state.counts.failedAttempts,
      repeatedAttempts: state.counts.repeatedAttempts,
    },
    effectsInDoubt: view.doubts,
    conflicts: conflictsOf(state).map(({ stepKey }) => stepKey),
    cost: {
      inputTokens: orNull(state.counts.inputTokens),
      outputTokens: orNull(state.counts.outputTokens),
      costMicroUsd: orNull(state.counts.costMicroUsd),
      unpriced: state.counts.unpriced,
    },
    failure:
      state.failure === undefined
        ? null
        : {
            cause: state.failure.cause,
            error: state.failure.error,
            stepKey: orNull(state.failure.stepKey),
            seq: state.failure.seq,
          },
    interruption: interruptionOf(view),
    pausedBefore: status === 'paused' ? orNull(state.pausedBefore) : null,
    badges: badgesOf(view),
    checkpoint:
      state.checkpoint === undefined
        ? null
        : {
            id: state.checkpoint.id,
            n: state.checkpoint.n,
            seq: state.checkpoint.seq,
            name: state.checkpoint.name,
          },
    actions: mapActions(view.actions),
    unclaimed: orNull(view.unclaimed),
    next: view.next === undefined ? null : { ...view.next, from: orNull(view.next.from) },
  };
}

/** Whoever's lease is live: a run that is judged interrupted is held by nobody, whatever its row still says. */
function holderOf({ run, status, held }: RunView): RunSummary['holder'] {
  if (run.lease === undefined || !held || status === 'interrupted') return null;
  return { workerId: run.lease.workerId, since: iso(run.lease.since), mode: run.lease.mode };
}

/** A lapse that the judge has not written down yet is shown all the same. */
function interruptionOf({ run, status }: RunView): RunSummary['interruption'] {
  const recorded = run.state.interruption;
  if (recorded !== undefined)
    return { cause: recorded.cause, workerId: orNull(recorded.workerId), seq: recorded.seq };
  if (status !== 'interrupted') return null;
  return { cause: 'lease-lapsed', workerId: orNull(run.lease?.workerId), seq: run.headSeq };
}

function badgesOf({ run, status, doubts, perhapsTwice, mined }: RunView): RunSummary['badges'] {
  const badges: RunSummary['badges'] = [];
  if (run.parent !== undefined) badges.push(run.parent.mode);
  if (run.parent?.mode === 'replay' && (status === 'running' || status === 'queued'))
    badges.push('replaying');
  if (run.state.diverged) badges.push('diverged');
  if (run.home === 'mirror') badges.push('mirror');
  if (doubts > 0) badges.push('in-doubt');
  if (run.state.counts.repeatedAttempts > 0) badges.push('ran-twice');
  if (perhapsTwice > 0) badges.push('perhaps-twice');
  if (mined) badges.push('mined');
  return badges;
}

function mapActions(actions: Readonly<Record<ActionName, Action>>): RunSummary['actions'] {
  const present = ({ possible, reason }: Action) => ({ possible, reason: orNull(reason) });
  return {
    resume: present(actions.resume),
    rewind: present(actions.rewind),
    fork: present(actions.fork),
    replay: present(actions.replay),
    pause: present(actions.pause),
    cancel: present(actions.cancel),
    verify: present(actions.verify),
    answer: present(actions.answer),
  };
}

export const presentRunPage = (page: Page<RunView>) => ({
  items: page.items.map(presentRun),
  total: page.total,
  nextCursor: orNull(page.nextCursor),
});
