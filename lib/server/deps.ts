import type { Logger } from 'pino';
import type { UsecaseDeps } from '@/lib/usecases/deps';
import type { DecodeFile } from '@/lib/usecases/import-traces';
import type { Importer } from '@/lib/usecases/ports';
import type { BodyLimits } from './http';
import type { InFlight } from './in-flight';
import type { Turns } from './turns';
import type { UploadLimits } from './upload-body';

/** The composition root's content: what use-cases need, and what the HTTP edge needs beside it. */
export interface Deps extends UsecaseDeps {
  readonly log: Logger;
  readonly limits: BodyLimits;
  /** Formats that `POST /api/v1/traces` reads, and how much of them. */
  readonly importers: readonly Importer[];
  readonly uploads: UploadLimits;
  readonly decode: DecodeFile;
  readonly inFlight: InFlight;
  /** A large file is held whole while it is read: so many at once, the others wait before theirs is. */
  readonly uploadTurns: Turns;
}
