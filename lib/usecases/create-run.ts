import {
  epoch,
  type LeaseId,
  type MachineDigest,
  type RunId,
  runId,
  type Seq,
  type WorkerId,
} from '@/lib/core/events/ids';
import type { Payload, PayloadRef } from '@/lib/core/events/payload';
import { extend } from '@/lib/core/journal/extend';
import { newRun } from '@/lib/core/journal/new-run';
import { canonicalJson, type Json } from '@/lib/core/shared/canonical-json';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { UsecaseDeps } from './deps';
import { newLeaseId } from './lease-id';
import { jsonPayload, refOf } from './payload-of';
import type { BadPayload, UnknownPayloads } from './problems';
import { badReference } from './references';

export interface CreateRunAsk {
  readonly runId: RunId | undefined;
  readonly workerId: WorkerId;
  readonly agent: string;
  readonly machineDigest: MachineDigest;
  readonly input: { readonly ref: PayloadRef } | { readonly value: Json } | undefined;
  readonly tags: readonly string[];
}

export interface CreatedRun {
  readonly runId: RunId;
  readonly leaseId: LeaseId;
  readonly epoch: number;
  readonly leaseMs: number;
  readonly headSeq: Seq;
}

/** `created` is false where the same worker asked before. */
export interface RunCreation {
  readonly answer: CreatedRun;
  readonly created: boolean;
}

export type CreateRunProblem =
  | UnknownPayloads
  | BadPayload
  | { readonly kind: 'unknown-machine'; readonly machines: readonly MachineDigest[] }
  | { readonly kind: 'exists'; readonly detail: string };

/** A run with its first event, held by the worker that asked. Asking again gives the first answer. */
export async function createRun(
  deps: Pick<UsecaseDeps, 'store' | 'ids' | 'hash' | 'leaseMs'>,
  ask: CreateRunAsk,
): Promise<Result<RunCreation, CreateRunProblem>> {
  const machine = await deps.store.machines.get(ask.machineDigest);
  if (machine?.agent !== ask.agent) return fail({ kind: 'unknown-machine', machines: [ask.machineDigest] });
  const id = ask.runId ?? runId(deps.ids.next('run'));
  const key = `create:${JSON.stringify([ask.workerId, id])}`;
  const inline =
    ask.input !== undefined && 'value' in ask.input ? jsonPayload(ask.input.value, deps.hash) : undefined;
  const input = inline ?? (ask.input !== undefined && 'ref' in ask.input ? ask.input.ref : undefined);
  const requestDigest = deps.hash(
    canonicalJson({ agent: ask.agent, machine: ask.machineDigest, input: input?.sha256, tags: ask.tags }),
  );
  const lease = newLeaseId(deps.ids, id);
  const payloads: readonly Payload[] = inline === undefined ? [] : [inline];
  return deps.store.commit<RunCreation, CreateRunProblem>({
    runId: id,
    answerKey: key,
    payloads: input === undefined || inline !== undefined ? [] : [input],
    decide: (context) => {
      const { now, run, answer, missingPayloads } = context;
      if (answer !== undefined && answer.requestDigest === requestDigest) {
        return ok({
          value: { answer: JSON.parse(answer.answer) as CreatedRun, created: false },
          change: undefined,
        });
      }
      if (run !== undefined) return fail({ kind: 'exists', detail: `There is a run ${id} already.` });
      if (missingPayloads.length > 0) return fail({ kind: 'unknown-payloads', payloads: missingPayloads });
      const bad = badReference(context);
      if (bad !== undefined) return fail(bad);
      const first = epoch(1);
      const held = {
        ...newRun({ runId: id, agent: ask.agent, createdAt: now }),
        epoch: first,
        lease: {
          leaseId: lease,
          workerId: ask.workerId,
          epoch: first,
          since: now,
          expiresAt: (now + deps.leaseMs) as typeof now,
          leaseMs: deps.leaseMs,
          mode: 'start',
        },
      };
      const started = {
        kind: 'run.started',
        agent: ask.agent,
        machineDigest: ask.machineDigest,
        ...(input !== undefined && { input: refOf(input) }),
        tags: ask.tags,
        workerId: ask.workerId,
      } as const;
      const change = extend(held, [], [started], { at: now, epoch: first, by: 'console' });
      const value: CreatedRun = {
        runId: id,
        leaseId: lease,
        epoch: first,
        leaseMs: deps.leaseMs,
        headSeq: change.run.headSeq,
      };
      const answered = { key, runId: id, requestDigest, answer: JSON.stringify(value), at: now };
      return ok({
        value: { answer: value, created: true },
        change: { ...change, payloads, answers: [answered] },
      });
    },
  });
}
