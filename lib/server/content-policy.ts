/** Sonner's stylesheet, which it puts into the page itself and without a nonce. A test compares it with the package. */
export const TOAST_STYLES = "'sha256-StEaX+se6YS7pqjzrzMIA0KaX9zF/8zAhvQXZAe5epY='";

/** No style at all: the toasts' element is in the page before its text is. */
const EMPTY_STYLE = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='";

/**
 * What a page may load and run: scripts by this request's nonce only, nothing from elsewhere. Style attributes are
 * allowed, since React Flow and virtual rows place things by them; a style cannot run anything.
 */
export function contentPolicy(nonce: string, development: boolean): string {
  const directives: Readonly<Record<string, readonly string[]>> = {
    'default-src': ["'none'"],
    // `'self'` is for browsers that do not know `strict-dynamic`; development's React needs `eval`.
    'script-src': [
      `'nonce-${nonce}'`,
      "'strict-dynamic'",
      "'self'",
      ...(development ? ["'unsafe-eval'"] : []),
    ],
    // What Next's dev server puts into pages has no nonce.
    'style-src': [
      "'self'",
      ...(development ? ["'unsafe-inline'"] : [`'nonce-${nonce}'`, TOAST_STYLES, EMPTY_STYLE]),
    ],
    'style-src-attr': ["'unsafe-inline'"],
    'img-src': ["'self'", 'data:', 'blob:'],
    'font-src': ["'self'"],
    'connect-src': ["'self'", ...(development ? ['ws:', 'wss:'] : [])],
    'worker-src': ["'self'", 'blob:'],
    'manifest-src': ["'self'"],
    'form-action': ["'self'"],
    'base-uri': ["'none'"],
    'frame-ancestors': ["'none'"],
  };
  return Object.entries(directives)
    .map(([name, sources]) => `${name} ${sources.join(' ')}`)
    .join('; ');
}

/** Carries the nonce to the layout. */
export const NONCE_HEADER = 'x-nonce';
