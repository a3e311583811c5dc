import type { Logger } from 'pino';
import type { UsecaseDeps } from '@/lib/usecases/deps';
import type { Importer } from '@/lib/usecases/ports';
import type { ReadFiles } from '@/lib/usecases/upload';
import type { BodyRoom } from './body-pace';
import type { Gate } from './gate';
import type { BodyLimits } from './http';
import type { InFlight } from './in-flight';
import type { Turns } from './turns';
import type { UploadLimits } from './upload-body';

/** The composition root's content: what use-cases need, and what the HTTP edge needs beside it. */
export interface Deps extends UsecaseDeps {
  readonly gate: Gate;
  readonly log: Logger;
  readonly limits: BodyLimits;
  /** Formats that `POST /api/v1/traces` reads, and how much of them. */
  readonly importers: readonly Importer[];
  readonly uploads: UploadLimits;
  readonly files: ReadFiles;
  readonly inFlight: InFlight;
  /** A large file is held whole, and unpacked, while it is read: so many at once. */
  readonly uploadTurns: Turns;
  /** Small ones do not wait for large ones. */
  readonly smallUploadTurns: Turns;
  /** For uploads that come in or wait for their turn. */
  readonly uploadRoom: BodyRoom;
}
