import { shortRequest, splitReply } from '../core/events/llm-texts';
import type { PayloadRef } from '../core/events/payload';
import type { EventOf, NewEvent } from '../core/events/run-event';
import { assertDefined } from '../core/shared/assert';
import type { Draft } from './journal-writer';
import { type Stored, storedText } from './values';

type Body<Kind extends NewEvent['kind']> = Extract<NewEvent, { readonly kind: Kind }>;

/**
 * The form in which a run's events are journalled: each message once. An llm step's request goes without the messages
 * that the conversation begins with, its reply in two parts, so that a message lies there as the conversation will
 * store it. Everything that a session writes passes here in the journal's order: only so is the conversation the one
 * that stands in the journal before the step, whatever branches do meanwhile.
 */
export class JournalForm {
  private readonly conversation: string[];
  /** Llm steps that were begun and have no outcome. */
  private readonly asked = new Set<string>();

  /** `conversation`: its messages in the journal so far. */
  constructor(conversation: readonly Stored[]) {
    this.conversation = conversation.map(({ text }) => text);
  }

  of(draft: Draft): Draft {
    const { event } = draft;
    switch (event.kind) {
      case 'message.appended':
        this.conversation.push(broughtBy(draft, event.message).text);
        return draft;
      case 'step.started':
        if (event.step !== 'llm') return draft;
        this.asked.add(event.stepKey);
        return this.shortened(draft, event);
      case 'step.reused':
        return event.step === 'llm' ? this.reused(draft, event) : draft;
      case 'step.completed':
        return this.asked.delete(event.stepKey) ? inParts(draft, event) : draft;
      case 'step.failed':
        if (event.final) this.asked.delete(event.stepKey);
        return draft;
      default:
        return draft;
    }
  }

  private reused(draft: Draft, event: Body<'step.reused'>): Draft {
    const parts = inParts(draft, event);
    return this.shortened(parts, parts.event as Body<'step.reused'>);
  }

  private shortened(draft: Draft, event: Body<'step.started' | 'step.reused'>): Draft {
    if (event.input === undefined) return draft;
    const whole = broughtBy(draft, event.input);
    const { conversation, text } = shortRequest(whole.text, this.conversation);
    if (conversation === 0) return draft;
    const short = storedText(text);
    return {
      ...draft,
      event: { ...event, input: short.ref, conversation },
      payloads: replaced(draft, whole, [short]),
    };
  }
}

/** With the reply's message apart, where it has one. */
function inParts(draft: Draft, event: Body<'step.completed' | 'step.reused'>): Draft {
  if (event.result === undefined) return draft;
  const whole = broughtBy(draft, event.result);
  const parts = splitReply(whole.text);
  if (parts === undefined) return draft;
  const message = storedText(parts.message);
  const rest = storedText(parts.rest);
  return {
    ...draft,
    event: { ...event, result: rest.ref, message: message.ref },
    payloads: replaced(draft, whole, [message, rest]),
  };
}

const broughtBy = ({ payloads }: Draft, ref: PayloadRef): Stored =>
  assertDefined(
    payloads?.find((stored) => stored.ref.sha256 === ref.sha256),
    'an event brings the payloads that it refers to',
  );

const replaced = ({ payloads = [] }: Draft, whole: Stored, parts: readonly Stored[]): readonly Stored[] =>
  payloads.flatMap((stored) => (stored === whole ? parts : [stored]));

/**
 * What an llm step is asked for, in the form of its record, so that the two lie side by side; the whole request where
 * it no longer begins with the messages that the record shares with the conversation.
 */
export function inFormOf(
  record: Pick<EventOf<'step.started'>, 'conversation'>,
  asked: Stored,
  conversation: readonly Stored[],
): { readonly asked: Stored; readonly sharesMessages: boolean } {
  const shared = record.conversation ?? 0;
  const first = conversation.slice(0, shared).map(({ text }) => text);
  const short = shortRequest(asked.text, first);
  return short.conversation === shared && shared > 0
    ? { asked: storedText(short.text), sharesMessages: true }
    : { asked, sharesMessages: shared === 0 };
}
