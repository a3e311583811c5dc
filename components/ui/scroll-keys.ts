import type { KeyboardEvent } from 'react';

const scrolls: ReadonlySet<string> = new Set([' ', 'Home', 'End', 'PageUp', 'PageDown']);

/** For a region that scrolls and can have the focus: these keys scroll it, and are not the page's then. */
export const keepScrollKeys = (event: KeyboardEvent): void => {
  if (event.target === event.currentTarget && scrolls.has(event.key)) event.stopPropagation();
};
