import { createGunzip } from 'node:zlib';
import { fail, ok, type Result } from '@/lib/core/shared/result';
import type { EdgeProblem, Incoming } from './http';
import { BODY_IDLE_MS, invalid } from './http';

/** What an upload may measure. Answers name the limit that was passed. */
export interface UploadLimits {
  readonly bodyBytes: number;
  readonly unzippedBytes: number;
  /** Bytes out of one byte of gzip; judged once more than `RATIO_FROM` have come out. */
  readonly ratio: number;
  readonly jsonDepth: number;
  /** An upload has a turn that others wait for: one of which nothing comes for so long is given up. */
  readonly idleMs: number;
}

const MIB = 1024 * 1024;
/** Where the environment sets none. A text of V8 holds 512 MiB at most. */
export const defaultUploadLimits: UploadLimits = {
  bodyBytes: 256 * MIB,
  unzippedBytes: 512 * MIB,
  ratio: 200,
  jsonDepth: 256,
  idleMs: BODY_IDLE_MS,
};

export type UploadBodyProblem =
  | EdgeProblem
  | {
      readonly kind: 'unzips-too-far';
      readonly limit: 'decompression ratio';
      readonly limitRatio: number;
      readonly detail: string;
    };

const RATIO_FROM = 8 * MIB;
const GZIP_MAGIC = [0x1f, 0x8b] as const;

/** The file in the body, unpacked where it is gzip, by its header or by its first bytes (a `.gz` sent as it is). */
export async function readUpload(
  incoming: Incoming,
  limits: UploadLimits,
): Promise<Result<Uint8Array, UploadBodyProblem>> {
  const encoding = incoming.header('content-encoding')?.trim().toLowerCase() ?? '';
  const declared = encoding === 'gzip' || encoding === 'x-gzip';
  if (!declared && encoding !== '' && encoding !== 'identity') {
    return fail({ kind: 'unsupported-encoding', contentEncoding: encoding });
  }
  const raw = await incoming.read(limits.bodyBytes, limits.idleMs);
  if (!raw.ok) return raw;
  const packed = raw.value[0] === GZIP_MAGIC[0] && raw.value[1] === GZIP_MAGIC[1];
  if (declared && !packed)
    return fail(invalid('body', 'the body is not gzip, though its content-encoding says so'));
  return packed ? unpack(raw.value, limits) : raw;
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
