import type { z } from 'zod';
import type { ProblemKind } from '@/lib/wire/v1/problems';

/** Groups of the document, in its order. */
export const tags = {
  Traces: 'Runs of any supported format come in as files, or span by span.',
  Runs: 'What ran, and what became of it.',
  'A run in detail': 'Projections of one run’s journal. Rows stay thin: values are payload references.',
  Orders: 'A plan says what an order will do; the order carries the plan’s digest.',
  Journal: 'How a program records its run, and how its events are read.',
  Payloads: 'Values by their content, and machines by their digest.',
  Workers: 'A worker claims runs, keeps them by its heartbeat, and gives them back.',
  Live: 'Changes as they happen.',
  Sharing: 'Read-only links to one run.',
  Access: 'Who is signed in, and who did what.',
  'This document': 'The API describes itself.',
} as const satisfies Readonly<Record<string, string>>;
export type Tag = keyof typeof tags;

/** An answer to a request that went through. */
export type AnswerDoc =
  | { readonly says: string; readonly json: z.ZodType; readonly headers?: HeaderDocs }
  /** As it is, of these content types. */
  | { readonly says: string; readonly types: readonly string[]; readonly headers?: HeaderDocs }
  | { readonly says: string; readonly empty: true; readonly headers?: HeaderDocs };

export type HeaderDocs = Readonly<Record<string, string>>;

/** A body that is not JSON alone, or an example of one that is. */
export interface BodyDoc {
  /** Absent: `application/json`, by the schema that parses it. */
  readonly types?: readonly string[];
  readonly says?: string;
  readonly example?: unknown;
  /** Schemas that the parsing one chooses from, where it is a function. */
  readonly anyOf?: readonly z.ZodType[];
}

/** What an endpoint says of itself beside the schemas that parse its requests. */
export interface EndpointDoc {
  /** Stable: programs name their functions by it. */
  readonly id: string;
  readonly tag: Tag;
  /** One line without a full stop. */
  readonly summary: string;
  /** Markdown of paragraphs, `code` and lists. */
  readonly description: string;
  readonly body?: BodyDoc;
  /** By HTTP status. */
  readonly answers: Readonly<Record<number, AnswerDoc>>;
  /** Request headers that mean something here. */
  readonly headers?: HeaderDocs;
  /** Refusals that the answer itself makes, beside those of `status`. */
  readonly problems?: Readonly<Partial<Record<ProblemKind, number>>>;
  /** Refusals that any operation may make, and this one never does. */
  readonly never?: readonly ProblemKind[];
}
