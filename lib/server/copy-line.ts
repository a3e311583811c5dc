import type { PayloadRef } from '@/lib/core/events/payload';
import type { RunEvent } from '@/lib/core/events/run-event';
import type { CopiedRun } from '@/lib/usecases/copy-run';
import type { ExportPayload } from '@/lib/wire/v1/export';

/** Who made the copy, where and when, and what it holds. */
export interface CopyNotice {
  /** ISO 8601. */
  readonly at: string;
  readonly by: string;
  /** Address of the console, where it is known. */
  readonly console: string | null;
  readonly limits: { readonly payloadBytes: number; readonly totalBytes: number };
}

/*
 * The lines of a copy, in file order. Code and data travel in one file and are of one release, so that this is no format
 * that another program has to read.
 */
export type CopyLine =
  | { readonly notice: CopyNotice; readonly copy: CopiedRun }
  | { readonly payload: ExportPayload }
  | { readonly leftOut: PayloadRef }
  | { readonly event: RunEvent };
