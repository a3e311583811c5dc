import { createGunzip } from 'node:zlib';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import { type BodyPace, defaultPace, Place } from './body-pace';
import type { Deps } from './deps';
import { type EdgeProblem, type Incoming, invalid } from './http';
import type { Turns } from './turns';

/** What an upload may measure. Answers name the limit that was passed. */
export interface UploadLimits extends BodyPace {
  readonly bodyBytes: number;
  readonly unzippedBytes: number;
  /** Bytes out of one byte of gzip; judged once more than `RATIO_FROM` have come out. */
  readonly ratio: number;
  readonly jsonDepth: number;
  /** For all bodies together that are on their way or wait for their turn. */
  readonly roomBytes: number;
}

const MIB = 1024 * 1024;
/** Where the environment sets none. A text of V8 holds 512 MiB at most. */
export const defaultUploadLimits: UploadLimits = {
  bodyBytes: 256 * MIB,
  unzippedBytes: 512 * MIB,
  ratio: 200,
  jsonDepth: 256,
  roomBytes: 512 * MIB,
  ...defaultPace,
};

export type UploadBodyProblem =
  | EdgeProblem
  | {
      readonly kind: 'unzips-too-far';
      readonly limit: 'decompression ratio';
      readonly limitRatio: number;
      readonly detail: string;
    };

export const RATIO_FROM = 8 * MIB;
const GZIP_MAGIC = [0x1f, 0x8b] as const;

/** What is no larger, unpacked too, takes a turn among small ones. */
export const SMALL = { body: MIB, unzipped: 8 * MIB } as const;

/**
 * Hands the file in the body to `use`, unpacked where it is gzip, by its header or by its first bytes (a `.gz` sent as it
 * is). The turn comes when the body is here, so that a body that trickles in holds up nobody.
 */
export async function withUpload<Value, Problem>(
  deps: Pick<Deps, 'inFlight' | 'uploads' | 'uploadTurns' | 'smallUploadTurns' | 'uploadRoom'>,
  incoming: Incoming,
  use: (file: Uint8Array) => Promise<Result<Value, Problem>>,
): Promise<Result<Value, Problem | UploadBodyProblem>> {
  const { uploads } = deps;
  const place = new Place(deps.uploadRoom);
  const { stop, done } = deps.inFlight.lasting(incoming.signal);
  const inTurn = async <Outcome>(turns: Turns, work: () => Promise<Outcome>): Promise<Outcome | 'gone'> => {
    const turn = await turns.take(stop.signal);
    if (turn === undefined) return 'gone';
    try {
      return await work();
    } finally {
      turn.end();
    }
  };
  const read = async (raw: Uint8Array, isPacked: boolean, most: number) => {
    const file = isPacked ? await unpack(raw, { ...uploads, unzippedBytes: most }) : ok(raw);
    return file.ok ? use(file.value) : file;
  };
  try {
    const body = await received(incoming, uploads, place);
    if (!body.ok) return body;
    const { raw, isPacked } = body.value;
    const small = Math.min(SMALL.unzipped, uploads.unzippedBytes);
    if (raw.byteLength <= SMALL.body) {
      const answer = await inTurn(deps.smallUploadTurns, () => read(raw, isPacked, small));
      if (answer === 'gone') return fail({ kind: 'client-gone' });
      if (small === uploads.unzippedBytes || !isTooLarge(answer, small)) return answer;
    }
    const answer = await inTurn(deps.uploadTurns, () => read(raw, isPacked, uploads.unzippedBytes));
    return answer === 'gone' ? fail({ kind: 'client-gone' }) : answer;
  } finally {
    place.leave();
    done();
  }
}

/** Whether it was refused for unpacking to more than so many bytes. */
function isTooLarge(answer: Result<unknown, unknown>, most: number): boolean {
  if (answer.ok) return false;
  const { kind, limit, limitBytes } = answer.problem as Partial<
    Extract<UploadBodyProblem, { readonly kind: 'body-too-large' }>
  >;
  return kind === 'body-too-large' && limit === 'decompressed body' && limitBytes === most;
}

async function received(
  incoming: Incoming,
  limits: UploadLimits,
  place: Place,
): Promise<Result<{ readonly raw: Uint8Array; readonly isPacked: boolean }, UploadBodyProblem>> {
  const encoding = incoming.header('content-encoding')?.trim().toLowerCase() ?? '';
  const declared = encoding === 'gzip' || encoding === 'x-gzip';
  if (!declared && encoding !== '' && encoding !== 'identity') {
    return fail({ kind: 'unsupported-encoding', contentEncoding: encoding });
  }
  const body = await incoming.read(limits.bodyBytes, limits, place);
  if (!body.ok) return body;
  const raw = body.value;
  const isPacked = raw[0] === GZIP_MAGIC[0] && raw[1] === GZIP_MAGIC[1];
  return declared && !isPacked
    ? fail(invalid('body', 'the body is not gzip, though its content-encoding says so'))
    : ok({ raw, isPacked });
}

async function unpack(
  packed: Uint8Array,
  limits: UploadLimits,
): Promise<Result<Uint8Array, UploadBodyProblem>> {
  const gunzip = createGunzip();
  const chunks: Buffer[] = [];
  let size = 0;
  gunzip.end(packed);
  try {
    for await (const chunk of gunzip) {
      const part: Buffer = chunk;
      size += part.byteLength;
      if (size > limits.unzippedBytes)
        return fail({ kind: 'body-too-large', limit: 'decompressed body', limitBytes: limits.unzippedBytes });
      if (size > RATIO_FROM && size > packed.byteLength * limits.ratio) return fail(tooFar(limits.ratio));
      chunks.push(part);
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return fail(
      invalid('body', `the gzip data is cut off or broken (${code}) after ${size} bytes of content`),
    );
  }
  return ok(Buffer.concat(chunks));
}

const tooFar = (limitRatio: number): UploadBodyProblem => ({
  kind: 'unzips-too-far',
  limit: 'decompression ratio',
  limitRatio,
  detail: `The body unpacks to more than ${limitRatio} times its size, the limit "decompression ratio".`,
});
