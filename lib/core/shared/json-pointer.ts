/** JSON Pointer (RFC 6901) of nested names: `pointerTo('variables', 'a/b')` is `/variables/a~1b`. */
export const pointerTo = (...names: readonly string[]): string =>
  names.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** The names of a JSON Pointer, outermost first; of the whole document, none. */
export const namesIn = (pointer: string): readonly string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
