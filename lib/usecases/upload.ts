import type { RunId } from '@/lib/core/events/ids';
import type { Hash } from '@/lib/core/events/payload';
import type { RunStatus } from '@/lib/core/projections/records';
import type { Result } from '@/lib/core/shared/result';
import { type AssembleAsk, assembleAnew, type Reassembled } from './assemble-parts';
import type { UsecaseDeps } from './deps';
import type {
  FileImporter,
  Imported,
  Importer,
  ImportProblem,
  ImportWarning,
  PartsImporter,
  SplitParts,
} from './ports';

/* What the ways of an upload share: whole runs in a file, and parts of runs. */

export interface UploadedRun {
  readonly runId: RunId;
  /** Id of the importer that read it. */
  readonly format: string;
  readonly status: RunStatus;
  readonly events: number;
  /** Distinct step keys. */
  readonly steps: number;
  readonly checkpoints: number;
  /** Events that this upload added. */
  readonly added: number;
}

export interface Upload {
  readonly runs: readonly UploadedRun[];
  readonly warnings: readonly ImportWarning[];
  /** Whether a run was made; else every run was known before. */
  readonly created: boolean;
  /** Parts that could not be read or stored; a warning names each. */
  readonly rejected: number;
}

export type ImportTracesProblem =
  | {
      readonly kind: 'unknown-format';
      readonly detail: string;
      readonly known: readonly { readonly format: string; readonly title: string }[];
      readonly errors: readonly ImportWarning[];
    }
  | { readonly kind: 'malformed'; readonly detail: string; readonly errors: readonly ImportWarning[] }
  | {
      readonly kind: 'too-deep';
      readonly limit: 'depth';
      readonly limitDepth: number;
      readonly detail: string;
      readonly errors: readonly ImportWarning[];
    }
  | { readonly kind: 'differs'; readonly detail: string; readonly runId: RunId; readonly seq: number }
  | { readonly kind: 'home-here'; readonly detail: string; readonly runId: RunId; readonly headSeq: number };

export type ImportTracesDeps = Pick<UsecaseDeps, 'store' | 'hash' | 'judgedFrom'> & {
  readonly importers: readonly Importer[];
  /** Deepest nesting of JSON in a file. */
  readonly maxImportDepth: number;
  /** Absent: here and at once, which holds the event loop for as long as it takes. */
  readonly files?: ReadFiles;
};

/** Reads files with their importers, perhaps in another thread; `bytes` are given away. */
export interface ReadFiles {
  readonly decode: (
    importer: FileImporter,
    bytes: Uint8Array,
    maxDepth: number,
  ) => Promise<Result<Imported, ImportProblem>>;
  readonly split: (
    importer: PartsImporter,
    file: { readonly bytes: Uint8Array; readonly contentType: string },
    maxDepth: number,
  ) => Promise<Result<SplitParts, ImportProblem>>;
  readonly assemble: (importer: PartsImporter, ask: AssembleAsk, maxDepth: number) => Promise<Reassembled>;
}

export const readHere = (hash: Hash): ReadFiles => ({
  decode: async (importer, bytes, maxDepth) => importer.decode(bytes, { hash, maxDepth }),
  split: async (importer, { bytes, contentType }, maxDepth) =>
    importer.split(bytes, contentType, { hash, maxDepth }),
  assemble: async (importer, ask, maxDepth) => assembleAnew(importer, ask, { hash, maxDepth }),
});

export interface UploadAsk {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  readonly format?: string;
  /**
   * A program sends parts as they come, and has no use for a refusal of all for the sake of one run: what cannot be
   * taken is counted in `rejected`, and only that is warned of.
   */
  readonly asTheyCome?: true;
}

/** Why a file was refused by its importer. */
export function unreadable(problem: ImportProblem): ImportTracesProblem {
  const { path, message } = problem;
  const detail = `${path}: ${message}`;
  const errors = [{ path, message }];
  return problem.kind === 'limit'
    ? { kind: 'too-deep', limit: 'depth', limitDepth: problem.max, detail, errors }
    : { kind: 'malformed', detail, errors };
}

export const MOST_TRIES = 10;
/** Somebody else wrote one of the runs since they were read. */
export interface Moved {
  readonly kind: 'moved';
}

const turns = new WeakMap<object, Promise<unknown>>();

/** Runs `work` after all that took a turn on the same store before. */
export function turn<Value>(store: object, work: () => Promise<Value>): Promise<Value> {
  const before = turns.get(store) ?? Promise.resolve();
  const mine = before.then(work, work);
  turns.set(
    store,
    mine.catch(() => undefined),
  );
  return mine;
}
