import { z } from 'zod';

export const signInBody = z.strictObject({
  /** As journal and audit will show it. */
  name: z.string().max(400),
  token: z.string().max(1_024),
});

/** Who asks. `signIn`: whether this console asks for a token at all. */
export const sessionAnswer = z.object({
  signIn: z.boolean(),
  /** `local` without tokens, `token` for programs, `person` by the cookie, `share` by a link; null: nobody is signed in. */
  kind: z.enum(['local', 'token', 'person', 'share']).nullable(),
  actor: z.string().nullable(),
  role: z.enum(['viewer', 'operator', 'admin']).nullable(),
});
export type SessionAnswer = z.output<typeof sessionAnswer>;
