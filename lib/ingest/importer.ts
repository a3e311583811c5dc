import { type EpochMs, epoch, epochMs, type RunId, type Seq, seq } from '@/lib/core/events/ids';
import type { Hash, Payload, PayloadRef } from '@/lib/core/events/payload';
import { EVENT_VERSION, type RunEvent } from '@/lib/core/events/run-event';
import { encodeValue } from '@/lib/core/events/value-codec';
import type { Draft } from '@/lib/core/journal/extend';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { ImportProblem } from '@/lib/usecases/ports';

/* What importers share: reading text, and building a journal of a foreign format. */

/** UTF-8 bytes as text, a byte order mark left out; refused with the offset of the first byte that is none. */
export function utf8Text(bytes: Uint8Array): Result<string, ImportProblem> {
  try {
    return ok(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return fail({ kind: 'malformed', path: `byte ${firstBadByte(bytes)}`, message: 'not UTF-8' });
  }
}

/** Offset of the first byte that is no UTF-8; for refusals: O(n log n). */
export function firstBadByte(bytes: Uint8Array): number {
  let good = 0;
  let bad = bytes.length;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (decodes(bytes.subarray(0, middle))) good = middle;
    else bad = middle;
  }
  return good;
}

function decodes(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** A journal under construction, with the payloads that it refers to. */
export interface JournalDraft {
  readonly runId: RunId;
  readonly events: RunEvent[];
  readonly payloads: Map<Payload['sha256'], Payload>;
  /** Appends at `draft.at`, or at the time of the event before it where that is later or none is given. */
  push(draft: Draft): Seq;
  /** Appends a copy that keeps its time. */
  copy(draft: Draft): void;
  /** The payload of any value that JSON, or our tags for more, can hold. */
  put(value: unknown): PayloadRef;
  /** The payload of a text that `encodeValue` wrote. */
  putText(json: string): PayloadRef;
}

const text = new TextEncoder();

/**
 * An empty journal of `runId`; everything in it is written by the worker of epoch 1 unless a draft says otherwise.
 * `payloads` may be shared by the journals of one file.
 */
export function draftJournal(
  runId: RunId,
  hash: Hash,
  payloads: Map<Payload['sha256'], Payload>,
): JournalDraft {
  const events: RunEvent[] = [];
  let newest: EpochMs = epochMs(0);
  const place = (draft: Draft, at: EpochMs): Seq => {
    const here = seq(events.length + 1);
    events.push({ by: 'worker', epoch: epoch(1), version: EVENT_VERSION, ...draft, runId, seq: here, at });
    return here;
  };
  const putText = (json: string): PayloadRef => {
    const body = text.encode(json);
    const sha256 = hash(body);
    if (!payloads.has(sha256)) payloads.set(sha256, { sha256, bytes: body.length, codec: 'json', body });
    return { sha256, bytes: body.length, codec: 'json' };
  };
  return {
    runId,
    events,
    payloads,
    push(draft) {
      newest = epochMs(Math.max(newest, draft.at ?? newest));
      return place(draft, newest);
    },
    copy(draft) {
      place(draft, draft.at ?? newest);
    },
    put(value) {
      const encoded = encodeValue(value);
      if (!encoded.ok)
        throw new Error(
          `Broken invariant: parsed JSON is recordable, but ${encoded.problem.path}: ${encoded.problem.why}`,
        );
      return putText(encoded.value);
    },
    putText,
  };
}
