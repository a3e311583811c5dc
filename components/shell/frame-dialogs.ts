import { type FrameDialogName, frameDialogNames } from '@/lib/client/url-state';

/* Which dialog of the frame is open, and what is looked for in it: at once on the screen, and in the address. */

export interface Shown {
  readonly open: FrameDialogName | undefined;
  readonly find: string;
}
const CLOSED: Shown = { open: undefined, find: '' };

/** What is typed rests so long before the address has it: each change of that makes the whole page look at it. */
const REST_MS = 300;

/** What an address asks for, `search` being its query. */
export function shownIn(search: string): Shown {
  const params = new URLSearchParams(search);
  const open = frameDialogNames.find((name) => name === params.get('open'));
  return open === undefined
    ? CLOSED
    : { open, find: open === 'palette' ? (params.get('command') ?? '') : '' };
}

/** The address for what is shown. A dialog of the page's own stays named in it. */
export function withShown(href: string, { open, find }: Shown): string {
  const url = new URL(href);
  const named = url.searchParams.get('open');
  if (open !== undefined) url.searchParams.set('open', open);
  else if (frameDialogNames.some((name) => name === named)) url.searchParams.delete('open');
  if (open === 'palette' && find !== '') url.searchParams.set('command', find);
  else url.searchParams.delete('command');
  return url.href;
}

class FrameDialogs {
  #shown = CLOSED;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly snapshot = (): Shown => this.#shown;
  readonly atFirst = (): Shown => CLOSED;

  readonly show = (open: FrameDialogName): void => {
    this.#set({ open, find: '' });
    this.#write();
  };
  readonly type = (find: string): void => {
    this.#set({ ...this.#shown, find });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#write(), REST_MS);
  };
  /** The address has it before this returns: Next drops a navigation during which the address is written. */
  readonly close = (): void => {
    this.#set(CLOSED);
    this.#write();
  };
  /** The address changed to `search`: by Back, by a link, or by this itself, which may have written another one since. */
  readonly follow = (search: string): void => {
    const newest = new URLSearchParams(window.location.search).toString();
    if (this.#timer === undefined && search === newest) this.#set(shownIn(search));
  };

  #set(shown: Shown): void {
    if (shown.open === this.#shown.open && shown.find === this.#shown.find) return;
    this.#shown = shown;
    for (const tell of this.#listeners) tell();
  }
  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const href = withShown(window.location.href, this.#shown);
    if (href !== window.location.href) window.history.replaceState(null, '', href);
  }
}

export const frameDialogs = new FrameDialogs();
