import type { EpochMs, Sha256 } from '@/lib/core/events/ids';
import type { Hash } from '@/lib/core/events/payload';
import type { VariablePatch } from '@/lib/core/events/run-event';
import { digestOf, encodeValue } from '@/lib/core/events/value-codec';
import { assertDefined } from '@/lib/core/shared/assert';
import { pointerTo } from '@/lib/core/shared/json-pointer';
import type { JournalDraft } from '@/lib/ingest/importer';
import type { FileJson } from '@/lib/ingest/json';
import { conversationIn, MESSAGES } from './messages';
import type { ThreadState, Warn } from './thread-state';

/** What a file leaves unsaid, counted so that it is told once. */
export interface Inferred {
  steps: number;
  answers: number;
}

/** Where a line's events go, and what is told beside them. */
export interface Setting {
  readonly journal: JournalDraft;
  readonly hash: Hash;
  readonly warn: Warn;
  readonly inferred: Inferred;
}

/** What the channels hold at a checkpoint, by digest. */
export interface Channels {
  /** Digest of each channel's value. */
  readonly channels: ReadonlyMap<string, Sha256>;
  /** Digests of the conversation as the newest state has it. */
  readonly messages: readonly Sha256[];
}

/** Appends what the state changed in channels and conversation since `before`. */
export function writeChannels(setting: Setting, before: Channels, state: ThreadState, at: EpochMs): Channels {
  const { journal } = setting;
  const channels = new Map(before.channels);
  const patch: VariablePatch[] = [];
  let messages = before.messages;
  for (const [name, value] of state.values) {
    const conversation = name === MESSAGES ? conversationIn(value) : undefined;
    if (conversation !== undefined) {
      const digests = conversation.map(({ message }) => valueDigest(message, setting.hash));
      const appended = messages.every((digest, i) => digest === digests[i]);
      const fresh = appended ? conversation.slice(messages.length) : newIn(conversation, digests, messages);
      for (const { role, message } of fresh)
        journal.push({ kind: 'message.appended', at, role, message: journal.put(message) });
      messages = digests;
      // The conversation stands for the channel until the two differ; from then on the channel is a variable too.
      if (appended && !channels.has(name)) continue;
      if (!channels.has(name)) {
        setting.warn({
          path: `${state.path}.values.${MESSAGES}`,
          message:
            'messages were changed or removed here: the conversation shows every message, the variable "messages" the list as it was',
        });
      }
    }
    const digest = valueDigest(value, setting.hash);
    const known = channels.get(name);
    if (known === digest) continue;
    channels.set(name, digest);
    patch.push({
      op: known === undefined ? 'add' : 'replace',
      path: pointerTo(name),
      value: journal.put(value),
    });
  }
  for (const name of before.channels.keys()) {
    if (state.values.has(name)) continue;
    channels.delete(name);
    patch.push({ op: 'remove', path: pointerTo(name) });
  }
  if (patch.length > 0) journal.push({ kind: 'variables.patched', at, patch });
  return { channels, messages };
}

function newIn<Item>(
  items: readonly Item[],
  digests: readonly Sha256[],
  known: readonly Sha256[],
): readonly Item[] {
  const seen = new Set(known);
  return items.filter((_, i) => !seen.has(assertDefined(digests[i], 'one digest for each message')));
}

/** Digest of a value of the file, whatever order its members come in. */
export function valueDigest(value: FileJson | undefined, hash: Hash): Sha256 {
  const encoded = encodeValue(value);
  if (!encoded.ok)
    throw new Error(
      `Broken invariant: parsed JSON is recordable, but ${encoded.problem.path}: ${encoded.problem.why}`,
    );
  return digestOf(encoded.value, hash);
}
