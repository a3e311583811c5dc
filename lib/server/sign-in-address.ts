/** The sign-in page, which leads back to `from` afterwards. */
export const signInAddress = (from: string): string =>
  from === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(from)}`;

/**
 * Where to go after the sign-in: an address of this console, or the list. A browser reads `\` as `/` and passes over
 * tabs and line ends, so `/\evil.example` would be another site.
 */
export function sameSitePath(next: string | undefined): string {
  const path = next ?? '';
  return /^\/(?![/\\])[^\\\p{Cc}]*$/u.test(path) && !path.startsWith('/sign-in') ? path : '/runs';
}
