'use client';

import { useEffect, useRef, useSyncExternalStore } from 'react';
import { isSingleKey, singleKeysOn } from './single-keys';

export interface Hotkey {
  /**
   * As `KeyboardEvent.key`, with `Shift+` or `Mod+` (⌘ or Ctrl) before it, such as `Shift+ArrowLeft`, `c`, `?`; two with a
   * space between them are pressed one after the other, such as `g r`.
   */
  readonly key: string;
  readonly what: string;
  readonly run: () => void;
  /** Why it does nothing just now; it is shown where the keys are listed as commands. */
  readonly reason?: string | undefined;
}

/** Name of the pressed combination. Shift is named only with keys that shift does not change into another one. */
export function comboOf(
  event: Pick<KeyboardEvent, 'key' | 'shiftKey' | 'metaKey' | 'ctrlKey' | 'altKey'>,
): string {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const letter = /^[a-z]$/.test(key);
  const shift = event.shiftKey && (event.key.length > 1 || letter) ? 'Shift+' : '';
  const mod = event.metaKey || event.ctrlKey ? 'Mod+' : '';
  return `${event.altKey ? 'Alt+' : ''}${mod}${shift}${key}`;
}

const typing = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.matches('textarea, select, input:not([type="radio"], [type="checkbox"])'));

const placeOf = (target: EventTarget | null): 'field' | 'control' | 'page' =>
  typing(target)
    ? 'field'
    : target instanceof HTMLElement &&
        target.closest('button, a, summary, input, [role="tab"], [role="menuitem"], [role="treeitem"]') !==
          null
      ? 'control'
      : 'page';

const never = () => () => undefined;
const mod = () => (/Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl');

/** `Mod` as it stands on this keyboard; the server does not know it. */
export const useMod = (): string => useSyncExternalStore(never, mod, () => '');

/** `Mod+Enter` as it stands on this keyboard. */
export function useModEnter(): string {
  const name = useMod();
  return name === '' ? '' : `${name} ↵`;
}

/* What was entered and would be lost by leaving, by whoever holds it. */
const unsaved = new Set<symbol>();

const mayLeave = (): boolean =>
  unsaved.size === 0 || window.confirm('What you have entered here is not kept. Leave all the same?');

/** While `dirty`, Escape and the closing of the page ask first. */
export function useUnsaved(dirty: boolean): void {
  useEffect(() => {
    if (!dirty) return;
    const mine = Symbol('unsaved');
    unsaved.add(mine);
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => {
      unsaved.delete(mine);
      window.removeEventListener('beforeunload', ask);
    };
  }, [dirty]);
}

/**
 * Place of the pressed combination in the table, or what it does by itself: the first Escape only leaves the field.
 * Enter and Space belong to the control that has the focus, and whatever is typed to its field. A combination with Mod
 * that is held down (`repeat`) does its work once.
 */
export function meaningOf(
  combo: string,
  at: 'field' | 'control' | 'page',
  table: readonly Pick<Hotkey, 'key'>[],
  repeat = false,
): number | 'blur' | undefined {
  if (repeat && combo.startsWith('Mod+')) return undefined;
  if (at === 'field' && combo === 'Escape') return 'blur';
  if (at === 'field' && !combo.startsWith('Mod+')) return undefined;
  if (at === 'control' && (combo === ' ' || combo === 'Enter')) return undefined;
  const found = table.findIndex((each) => each.key === combo);
  return found === -1 ? undefined : found;
}

type Table = { readonly current: readonly Hotkey[] };
/* Whatever is bound at the moment: what the page binds goes before what the frame binds. */
const ofPage = new Set<Table>();
const ofFrame = new Set<Table>();

/** The keys that do something here and now; of two with the same key, the first is the one that does it. */
export const hotkeysHere = (): readonly Hotkey[] => [...ofPage, ...ofFrame].flatMap((table) => table.current);

/** How long the first of two keys waits for the second. */
const SECOND_MS = 1_500;
let first: { readonly combo: string; readonly at: number } | undefined;

const modifiers = new Set(['Shift', 'Control', 'Alt', 'Meta']);

/** Keys of a word that is being composed are the input method's, and of several choices the arrows choose. */
const isTaken = (event: KeyboardEvent, combo: string): boolean =>
  event.defaultPrevented ||
  event.isComposing ||
  document.querySelector('[role="dialog"], [role="menu"]') !== null ||
  (event.target instanceof HTMLInputElement && event.target.type === 'radio' && combo.startsWith('Arrow')) ||
  (isSingleKey(combo) && !singleKeysOn());

function onKeyDown(event: KeyboardEvent): void {
  if (modifiers.has(event.key)) return;
  const combo = comboOf(event);
  const before = first !== undefined && event.timeStamp - first.at < SECOND_MS ? first.combo : undefined;
  first = undefined;
  if (isTaken(event, combo)) return;
  const table = hotkeysHere();
  const at = placeOf(event.target);
  const second = before === undefined ? undefined : meaningOf(`${before} ${combo}`, at, table);
  const meaning = second ?? meaningOf(combo, at, table, event.repeat);
  if (meaning === 'blur') {
    event.preventDefault();
    (event.target as HTMLElement).blur();
  } else if (meaning !== undefined) {
    event.preventDefault();
    const { reason, run } = table[meaning] ?? {};
    if (reason === undefined && (combo !== 'Escape' || mayLeave())) run?.();
  } else if (at !== 'field' && table.some(({ key }) => key.startsWith(`${combo} `)))
    first = { combo, at: event.timeStamp };
}

/**
 * Binds keys to the window while mounted. Keys pressed in a field, or in an open dialog, belong to that field or dialog.
 * `of`: the frame's keys give way to those that the page binds itself.
 */
export function useHotkeys(table: readonly Hotkey[], enabled = true, of: 'page' | 'frame' = 'page'): void {
  const newest = useRef(table);
  useEffect(() => {
    newest.current = table;
  });
  useEffect(() => {
    if (!enabled) return;
    const tables = of === 'page' ? ofPage : ofFrame;
    if (ofPage.size + ofFrame.size === 0) window.addEventListener('keydown', onKeyDown);
    tables.add(newest);
    return () => {
      tables.delete(newest);
      if (ofPage.size + ofFrame.size === 0) window.removeEventListener('keydown', onKeyDown);
    };
  }, [enabled, of]);
}
