import { z } from 'zod';
import { instant, wireRunId } from './common';
import { span } from './queries';

const shareId = z.string().min(1).max(128);
export const shareParams = z.object({ shareId });

/** For how long: `expiresIn`, such as `90m`, `24h` or `7d`, or `expiresAt`; neither: seven days. */
export const shareBody = z
  .strictObject({
    expiresIn: span.exactOptional(),
    expiresAt: z.iso.datetime({ offset: true }).exactOptional(),
  })
  .refine(({ expiresIn, expiresAt }) => expiresIn === undefined || expiresAt === undefined, {
    message: 'give expiresIn or expiresAt, not both',
  });

export const shareRow = z.object({
  id: shareId,
  runId: wireRunId,
  createdBy: z.string(),
  createdAt: instant,
  expiresAt: instant,
  revokedAt: instant.nullable(),
  revokedBy: z.string().nullable(),
  status: z.enum(['open', 'expired', 'revoked']),
});
export type ShareRow = z.output<typeof shareRow>;

/** `path` holds the secret: it is told this once. */
export const shareMade = shareRow.extend({ path: z.string() });
export type ShareMade = z.output<typeof shareMade>;

export const sharesAnswer = z.object({
  items: z.array(shareRow),
  total: z.number().int().min(0),
  nextCursor: z.null(),
});
export type SharesAnswer = z.output<typeof sharesAnswer>;

/** 24 random bytes as base64url. */
export const sharedParams = z.object({ secret: z.string().min(1).max(128) });
/** What the holder of a link may know of it. */
export const sharedAnswer = z.object({ runId: wireRunId, sharedBy: z.string(), expiresAt: instant });
export type SharedAnswer = z.output<typeof sharedAnswer>;
