import {
  type EpochMs,
  epochMs,
  type RunId,
  type Seq,
  type Sha256,
  type StepKey,
} from '@/lib/core/events/ids';
import { misreferred, type Payload } from '@/lib/core/events/payload';
import type { RunEvent } from '@/lib/core/events/run-event';
import { type AuditRecord, auditedIn, auditText, ended } from '@/lib/core/journal/audit';
import { wantedBy } from '@/lib/core/journal/wanted';
import type { Machine } from '@/lib/core/machine/machine';
import { bucketsOf } from '@/lib/core/projections/buckets';
import { inForce } from '@/lib/core/projections/effective-path';
import { doubtsOf, isWatched } from '@/lib/core/projections/ledger';
import { needsPerson } from '@/lib/core/projections/needs-person';
import type {
  CheckpointRecord,
  EffectRecord,
  QuestionRecord,
  RunRecord,
  StepRecord,
} from '@/lib/core/projections/records';
import { statusNow } from '@/lib/core/projections/run-status';
import { assertDefined } from '@/lib/core/shared/assert';
import type { Result } from '@/lib/core/shared/result';
import { assertChange } from '@/lib/stores/prisma/assert-change';
import { ticketsOf } from '@/lib/stores/prisma/claimable';
import { LocalFeed } from '@/lib/stores/prisma/local-feed';
import { digestsIn } from '@/lib/stores/prisma/payload-refs';
import { ticketOf } from '@/lib/stores/prisma/rows';
import { failureText, searchText } from '@/lib/stores/prisma/run-text';
import { changesLedger } from '@/lib/stores/prisma/write-rows';
import type {
  AnswerRecord,
  Assembly,
  AuditFilter,
  BatchRecord,
  Bucket,
  Change,
  Children,
  Cut,
  EventRange,
  JudgedAt,
  Page,
  PartRecord,
  RunCursor,
  RunFilter,
  RunPageAsk,
  ShareRecord,
  SnapshotRecord,
  Store,
  WorkerRecord,
  WriteAsk,
  WriteContext,
} from '@/lib/usecases/ports';

interface RunRows {
  readonly key: number;
  record: RunRecord;
  /** Since when it waits for just the workers that it waits for now. */
  wantedAt: EpochMs;
  readonly events: RunEvent[];
  readonly steps: Map<string, StepRecord>;
  readonly questions: Map<string, QuestionRecord>;
  readonly checkpoints: Map<Seq, CheckpointRecord>;
  readonly snapshots: SnapshotRecord[];
  readonly batches: Map<string, BatchRecord>;
  readonly parts: Map<string, PartRecord>;
}

interface PayloadRow {
  readonly payload: Payload;
  /** When it was stored without being referred to; `undefined` once an event refers to it. */
  looseSince: EpochMs | undefined;
}

export interface MemoryStoreOptions {
  /** The store's clock; the system's by default. */
  readonly now?: () => EpochMs;
}

/** A whole `Store` in plain maps, for tests of what stands on a store. Nothing survives `close`. */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  const now = options.now ?? (() => epochMs(Date.now()));
  const runs = new Map<RunId, RunRows>();
  const effects = new Map<string, EffectRecord>();
  const ledgers = new Map<RunId, number>();
  const answers = new Map<string, AnswerRecord>();
  const payloads = new Map<Sha256, PayloadRow>();
  const machines = new Map<string, Machine>();
  const workers = new Map<string, WorkerRecord>();
  const audit: AuditRecord[] = [];
  const shares = new Map<string, { readonly share: ShareRecord; readonly secret: Sha256 }>();
  const feed = new LocalFeed();
  const openedAt = now();

  const ledgerVersion = (root: RunId) => ledgers.get(root) ?? 0;
  const lineageEffects = (root: RunId) =>
    [...effects.values()].filter((effect) => effect.root === root).sort(byKey);
  const withLedger = (record: RunRecord): RunRecord => ({
    ...record,
    ledgerVersion: record.root === record.runId ? ledgerVersion(record.root) : 0,
  });

  const assemblyOf = (id: RunId): Assembly => ({
    parts: runs.get(id)?.parts.size ?? 0,
    children: [...runs.values()].filter(({ record }) => record.parent?.runId === id).length,
    ledgerVersion: ledgerVersion(runs.get(id)?.record.root ?? id),
  });

  function cut(rows: RunRows, { after, effects: gone }: Cut): void {
    for (const digest of digestsIn(rows.events.splice(after))) {
      const row = payloads.get(digest);
      if (row !== undefined) row.looseSince = now();
    }
    rows.snapshots.splice(0, rows.snapshots.length, ...rows.snapshots.filter(({ seq }) => seq <= after));
    for (const [key, { startedSeq }] of rows.steps) if (startedSeq > after) rows.steps.delete(key);
    for (const [key, { askedSeq }] of rows.questions) if (askedSeq > after) rows.questions.delete(key);
    for (const at of rows.checkpoints.keys()) if (at > after) rows.checkpoints.delete(at);
    for (const { stepKey, generation } of gone)
      effects.delete(`${rows.record.root} ${generation} ${stepKey}`);
  }

  function contextOf(ask: WriteAsk<unknown, unknown>): WriteContext {
    const rows = runs.get(ask.runId);
    const root = rows?.record.root ?? ask.root ?? ask.runId;
    const wanted = ask.effectKeys;
    const after = ask.othersAfter;
    return {
      now: now(),
      run: rows === undefined ? undefined : withLedger(rows.record),
      ledgerVersion: ledgerVersion(root),
      effects:
        wanted === undefined
          ? []
          : lineageEffects(root).filter((effect) => wanted === 'all' || wanted.includes(effect.stepKey)),
      steps: [...(rows?.steps.values() ?? [])].filter(({ stepKey }) => ask.stepKeys?.includes(stepKey)),
      batch: ask.batch === undefined ? undefined : rows?.batches.get(`${ask.batch.epoch} ${ask.batch.batch}`),
      answer: ask.answerKey === undefined ? undefined : answers.get(ask.answerKey),
      others:
        after === undefined
          ? []
          : (rows?.events ?? []).slice(after).filter((event) => event.by === 'console'),
      missingPayloads: [...new Set((ask.payloads ?? []).map(({ sha256 }) => sha256))].filter(
        (digest) => !payloads.has(digest),
      ),
      badReferences: (ask.payloads ?? []).flatMap((ref) => {
        const stored = payloads.get(ref.sha256);
        return (stored === undefined ? undefined : misreferred(ref, stored.payload)) ?? [];
      }),
      also: new Map(
        (ask.also ?? []).flatMap(({ runId }) => {
          const other = runs.get(runId);
          return other === undefined ? [] : [[runId, withLedger(other.record)] as const];
        }),
      ),
      assembly: new Map(
        ask.assembly === true
          ? [ask.runId, ...(ask.also ?? []).map(({ runId }) => runId)]
              .filter((id) => runs.has(id))
              .map((id) => [id, assemblyOf(id)])
          : [],
      ),
    };
  }

  function keep(added: readonly Payload[], at: EpochMs): void {
    for (const payload of added) {
      const row = payloads.get(payload.sha256);
      if (row === undefined)
        payloads.set(payload.sha256, { payload: { ...payload, body: payload.body.slice() }, looseSince: at });
      else if (row.looseSince !== undefined) row.looseSince = at;
    }
  }

  function store(change: Change, at: EpochMs): void {
    const id = change.run.runId;
    let rows = runs.get(id);
    if (rows === undefined) {
      rows = {
        key: runs.size + 1,
        record: change.run,
        wantedAt: change.run.updatedAt,
        events: [],
        steps: new Map(),
        questions: new Map(),
        checkpoints: new Map(),
        snapshots: [],
        batches: new Map(),
        parts: new Map(),
      };
      runs.set(id, rows);
    }
    if (ticketOf(rows.record) !== ticketOf(change.run)) rows.wantedAt = change.run.updatedAt;
    rows.record = change.run;
    if (change.cut !== undefined) cut(rows, change.cut);
    for (const part of change.parts ?? [])
      if (!rows.parts.has(part.id)) rows.parts.set(part.id, { ...part, body: part.body.slice() });
    rows.events.push(...change.events);
    keep(change.payloads, at);
    for (const digest of digestsIn(change.events)) {
      const row = payloads.get(digest);
      if (row !== undefined) row.looseSince = undefined;
    }
    for (const step of change.steps) {
      const key = `${step.line} ${step.stepKey}`;
      rows.steps.set(key, { ...step, startedSeq: rows.steps.get(key)?.startedSeq ?? step.startedSeq });
    }
    for (const effect of change.effects)
      effects.set(`${effect.root} ${effect.generation} ${effect.stepKey}`, effect);
    if (changesLedger(change)) ledgers.set(change.run.root, ledgerVersion(change.run.root) + 1);
    for (const question of change.questions)
      rows.questions.set(`${question.line} ${question.questionId}`, question);
    for (const checkpoint of change.checkpoints) rows.checkpoints.set(checkpoint.seq, checkpoint);
    for (const snapshot of change.snapshots) {
      const at = rows.snapshots.findIndex((other) => other.seq >= snapshot.seq);
      if (at === -1) rows.snapshots.push(snapshot);
      else rows.snapshots.splice(at, rows.snapshots[at]?.seq === snapshot.seq ? 1 : 0, snapshot);
    }
    if (change.batch !== undefined)
      rows.batches.set(`${change.batch.epoch} ${change.batch.batch}`, change.batch);
    for (const answer of change.answers ?? []) answers.set(answer.key, answer);
    const audited = auditedIn(change.run, change.events);
    for (const end of audited.ends) {
      const at = audit.findLastIndex((one) => one.runId === id && one.commandId === end.commandId);
      const before = audit[at];
      if (before !== undefined) audit[at] = ended(before, end);
    }
    audit.push(...audited.records);
  }

  const sorted = (
    records: readonly RunRecord[],
    sort: RunPageAsk['sort'],
    descending: boolean,
    judged?: JudgedAt,
  ) => {
    const keyed = records.map((record) => ({
      record,
      value: sortValue(record, sort, judged),
      key: assertDefined(runs.get(record.runId), 'a listed run has rows').key,
    }));
    keyed.sort((a, b) => (compare(a.value, b.value) || a.key - b.key) * (descending ? -1 : 1));
    return keyed;
  };
  const all = () => [...runs.values()].map((rows) => withLedger(rows.record));

  return {
    feed,
    clock: { now },
    async commit<Value, Problem>(ask: WriteAsk<Value, Problem>): Promise<Result<Value, Problem>> {
      const context = contextOf(ask);
      const decided = ask.decide(context);
      if (!decided.ok) return decided;
      const { change, value } = decided.value;
      if (change !== undefined) {
        assertChange(ask.runId, context, change);
        const together = [change, ...(change.also ?? [])];
        if (new Set(together.map(({ run }) => run.runId)).size < together.length)
          throw new Error('One run twice in a commit');
        for (const one of together)
          assertChange(one.run.runId, { ...context, run: runs.get(one.run.runId)?.record }, one);
        for (const one of together) {
          const { runId, headSeq, edition } = one.run;
          store(one, context.now);
          feed.publish({
            runId,
            headSeq,
            edition,
            status: statusNow(one.run, context.now, openedAt),
            wanted: wantedBy(one.run) !== undefined,
          });
        }
      }
      return { ok: true, value };
    },
    async run(id) {
      const rows = runs.get(id);
      return rows === undefined ? undefined : withLedger(rows.record);
    },
    async edition(id) {
      return runs.get(id)?.record.edition;
    },
    async parts(id, ids) {
      return [...(runs.get(id)?.parts.values() ?? [])]
        .filter((part) => ids === undefined || ids.includes(part.id))
        .sort((a, b) => compare(a.id, b.id));
    },
    async assembly(id) {
      return assemblyOf(id);
    },
    async runs(ask): Promise<Page<RunRecord, RunCursor>> {
      const found = sorted(
        all().filter(matches(ask.filter, ask.judged, [...effects.values()])),
        ask.sort,
        ask.descending,
        ask.judged,
      );
      const { cursor } = ask;
      const side = ask.descending ? -1 : 1;
      const rest =
        cursor === undefined
          ? found
          : found.filter(({ value, key }) => (compare(value, cursor.value) || key - cursor.key) * side > 0);
      const items = rest.slice(0, ask.limit);
      const last = items.at(-1);
      return {
        items: items.map(({ record }) => record),
        total: found.length,
        nextCursor:
          rest.length > items.length && last !== undefined ? { value: last.value, key: last.key } : undefined,
      };
    },
    async heldRuns() {
      const held = all().filter(
        ({ home, state, lease }) =>
          home === 'here' &&
          (state.status === 'running' || (state.status === 'waiting' && lease !== undefined)),
      );
      return sorted(held, 'updated', false).map(({ record }) => record);
    },
    async lineage(root) {
      return sorted(
        all().filter((run) => run.root === root),
        'created',
        false,
      ).map(({ record }) => record);
    },
    async claimable({ agents, cursor, limit }) {
      const tickets = ticketsOf(agents);
      const found = [...runs.values()]
        .map((rows) => ({ record: withLedger(rows.record), value: rows.wantedAt, key: rows.key }))
        .filter(({ record }) => tickets.includes(ticketOf(record) ?? ''))
        .filter(
          ({ value, key }) => cursor === undefined || (compare(value, cursor.value) || key - cursor.key) > 0,
        )
        .sort((a, b) => a.value - b.value || a.key - b.key);
      const items = found.slice(0, limit);
      const last = items.at(-1);
      return {
        items: items.map(({ record }) => record),
        nextCursor:
          items.length === limit && last !== undefined ? { value: last.value, key: last.key } : undefined,
      };
    },
    async children(of, limit, { now: at, judgedFrom }) {
      return new Map(
        of.flatMap((id): [RunId, Children][] => {
          const found = sorted(
            all().filter(({ parent }) => parent?.runId === id),
            'created',
            false,
          ).flatMap(({ record }) =>
            record.parent === undefined
              ? []
              : [
                  {
                    runId: record.runId,
                    mode: record.parent.mode,
                    status: statusNow(record, at, judgedFrom),
                  },
                ],
          );
          return found.length === 0
            ? []
            : [[id, { total: found.length, newest: found.slice(Math.max(0, found.length - limit)) }]];
        }),
      );
    },
    async events(id, range: EventRange) {
      const { after, before, kinds } = range;
      const found = (runs.get(id)?.events ?? []).filter(
        (event) =>
          (after === undefined || event.seq > after) &&
          (before === undefined || event.seq < before) &&
          (kinds === undefined || kinds.includes(event.kind)) &&
          (range.intents !== true || event.kind !== 'step.started' || event.intent !== undefined),
      );
      return (range.descending === true ? found.reverse() : found).slice(0, range.limit);
    },
    async eventsAt(id, at) {
      return (runs.get(id)?.events ?? []).filter((event) => at.includes(event.seq));
    },
    async buckets(id, n): Promise<readonly Bucket[]> {
      return bucketsOf(runs.get(id)?.events ?? [], n);
    },
    async steps(id, page) {
      const after = page?.after ?? 0;
      const found = [...(runs.get(id)?.steps.values() ?? [])]
        .filter((step) => step.startedSeq > after)
        .sort((a, b) => a.startedSeq - b.startedSeq || a.line - b.line || compare(a.stepKey, b.stepKey));
      // Steps of one seq stay on one page, since the next one begins after that seq.
      const lastSeq = page?.limit === undefined ? undefined : found[page.limit - 1]?.startedSeq;
      return lastSeq === undefined ? found : found.filter((step) => step.startedSeq <= lastSeq);
    },
    async step(id, key: StepKey) {
      return [...(runs.get(id)?.steps.values() ?? [])]
        .filter((step) => step.stepKey === key)
        .sort((a, b) => a.line - b.line);
    },
    async stepsOf(id, keys) {
      return (await this.steps(id)).filter((step) => keys.includes(step.stepKey));
    },
    async stepCount(id, path) {
      const found = (await this.steps(id)).filter(({ startedSeq }) => inForce(startedSeq, path));
      return new Set(found.map(({ stepKey }) => stepKey)).size;
    },
    async checkpoints(id) {
      return [...(runs.get(id)?.checkpoints.values() ?? [])].sort((a, b) => a.seq - b.seq);
    },
    async questions(id) {
      return [...(runs.get(id)?.questions.values() ?? [])].sort(
        (a, b) => a.askedSeq - b.askedSeq || a.line - b.line,
      );
    },
    async effects(root) {
      return lineageEffects(root);
    },
    async watchedEffects(of) {
      return [...effects.values()]
        .filter((effect) => of.includes(effect.runId) && isWatched(effect))
        .sort(byKey);
    },
    async ledgerVersion(root) {
      return ledgerVersion(root);
    },
    async snapshot(id, at) {
      return (runs.get(id)?.snapshots ?? []).findLast((snapshot) => snapshot.seq <= at);
    },
    async answer(key) {
      return answers.get(key);
    },
    payloads: {
      async put(added) {
        keep(added, now());
      },
      async get(digest) {
        return payloads.get(digest)?.payload;
      },
      async many(digests) {
        const found = new Map<Sha256, Payload>();
        for (const digest of digests) {
          const row = payloads.get(digest);
          if (row !== undefined) found.set(digest, row.payload);
        }
        return found;
      },
      async missing(digests) {
        return [...new Set(digests)].filter((digest) => !payloads.has(digest));
      },
      async sweep(olderThan) {
        let swept = 0;
        const used = digestsIn([...runs.values()].flatMap(({ events }) => events));
        for (const [digest, row] of payloads) {
          if (row.looseSince === undefined || row.looseSince >= olderThan) continue;
          if (used.has(digest)) {
            row.looseSince = undefined;
            continue;
          }
          payloads.delete(digest);
          swept += 1;
        }
        return swept;
      },
    },
    machines: {
      async put(digest, machine) {
        if (!machines.has(digest)) machines.set(digest, machine);
      },
      async get(digest) {
        return machines.get(digest);
      },
    },
    workers: {
      async seen(worker) {
        const before = workers.get(worker.workerId);
        workers.set(worker.workerId, { ...worker, firstSeenAt: before?.firstSeenAt ?? worker.firstSeenAt });
      },
      async get(id) {
        return workers.get(id);
      },
      async list(since) {
        return [...workers.values()]
          .filter(({ seenAt }) => since === undefined || seenAt >= since)
          .sort((a, b) => b.seenAt - a.seenAt || compare(a.workerId, b.workerId));
      },
      async prune(unseenSince) {
        const old = [...workers.values()].filter(({ seenAt }) => seenAt < unseenSince);
        for (const { workerId } of old) workers.delete(workerId);
        return old.length;
      },
    },
    audit: {
      async add(record) {
        audit.push(record);
      },
      async list({ filter, cursor, limit }) {
        const found = audit
          .map((record, key) => ({ record, key }))
          .filter(({ record }) => isAudited(filter, record))
          .sort((a, b) => b.record.at - a.record.at || b.key - a.key);
        const rest = found.filter(
          ({ record, key }) =>
            cursor === undefined || record.at < cursor.at || (record.at === cursor.at && key < cursor.key),
        );
        const last = rest.slice(0, limit).at(-1);
        return {
          items: rest.slice(0, limit).map(({ record, key }) => ({ ...record, key })),
          total: found.length,
          nextCursor:
            rest.length > limit && last !== undefined ? { at: last.record.at, key: last.key } : undefined,
        };
      },
    },
    shares: {
      async add(share, secret) {
        shares.set(share.id, { share, secret });
      },
      async get(id) {
        return shares.get(id)?.share;
      },
      async bySecret(secret) {
        return [...shares.values()].find((one) => one.secret === secret)?.share;
      },
      async of(id) {
        return [...shares.values()]
          .map(({ share }) => share)
          .filter((share) => share.runId === id)
          .sort((a, b) => b.createdAt - a.createdAt || compare(a.id, b.id));
      },
      async revoke(id, by, at) {
        const found = shares.get(id);
        if (found === undefined || found.share.revoked !== undefined) return false;
        shares.set(id, { ...found, share: { ...found.share, revoked: { at, by } } });
        return true;
      },
    },
    async close() {},
  };
}

const isAudited = (filter: AuditFilter, record: AuditRecord): boolean =>
  (filter.actor === undefined || filter.actor.includes(record.actor)) &&
  (filter.action === undefined || filter.action.includes(record.action)) &&
  !filter.not?.includes(record.action) &&
  (filter.run === undefined || filter.run === record.runId) &&
  auditText(record).includes((filter.q ?? '').toLowerCase()) &&
  record.at >= (filter.from ?? 0) &&
  record.at < (filter.to ?? Number.POSITIVE_INFINITY);

/** Texts by their UTF-8 bytes, as both databases sort them here. */
function compare(a: number | string, b: number | string): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
}

const byKey = (a: EffectRecord, b: EffectRecord) =>
  a.intentSeq - b.intentSeq || compare(a.stepKey, b.stepKey) || a.generation - b.generation;

const statusOf = (record: RunRecord, judged: JudgedAt | undefined) =>
  judged === undefined ? record.state.status : statusNow(record, judged.now, judged.judgedFrom);

function sortValue(
  record: RunRecord,
  sort: RunPageAsk['sort'],
  judged: JudgedAt | undefined,
): number | string {
  switch (sort) {
    case 'updated':
      return record.updatedAt;
    case 'created':
      return record.createdAt;
    case 'agent':
      return record.state.agent;
    case 'status':
      return statusOf(record, judged);
  }
}

function matches(
  filter: RunFilter,
  judged: JudgedAt | undefined,
  effects: readonly EffectRecord[],
): (run: RunRecord) => boolean {
  const q = filter.q?.toLowerCase();
  const failure = filter.failure?.toLowerCase();
  const inDoubt = (run: RunRecord) => doubtsOf(run.runId, effects, judged?.now ?? epochMs(0)).length > 0;
  return (run) =>
    (filter.status === undefined || filter.status.includes(statusOf(run, judged))) &&
    (filter.agent === undefined || filter.agent.includes(run.state.agent)) &&
    !filter.notAgent?.includes(run.state.agent) &&
    (filter.tag === undefined || filter.tag.every((tag) => run.state.tags.includes(tag))) &&
    !filter.notTag?.some((tag) => run.state.tags.includes(tag)) &&
    (filter.source === undefined || filter.source.includes(run.source)) &&
    !filter.notSource?.includes(run.source) &&
    (filter.inDoubt === undefined || filter.inDoubt === inDoubt(run)) &&
    (filter.attention === undefined ||
      filter.attention === needsPerson(run, statusOf(run, judged), inDoubt(run))) &&
    (q === undefined || searchText(run).includes(q)) &&
    (filter.from === undefined || run.createdAt >= filter.from) &&
    (filter.to === undefined || run.createdAt < filter.to) &&
    (failure === undefined || failureText(run).toLowerCase().includes(failure)) &&
    (filter.root === undefined || run.root === filter.root);
}
