'use client';

import { useEffect, useRef, useSyncExternalStore } from 'react';
import { isSingleKey, singleKeysOn } from './single-keys';

export interface Hotkey {
  /** As `KeyboardEvent.key`, with `Shift+` or `Mod+` (⌘ or Ctrl) before it, such as `Shift+ArrowLeft`, `c`, `?`. */
  readonly key: string;
  readonly what: string;
  readonly run: () => void;
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
const modEnter = () => (/Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘ ↵' : 'Ctrl ↵');

/** `Mod+Enter` as it stands on this keyboard; the server does not know it. */
export const useModEnter = (): string => useSyncExternalStore(never, modEnter, () => '');

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

/** Binds keys to the window while mounted. Keys pressed in a field, or in an open dialog, belong to that field or dialog. */
export function useHotkeys(table: readonly Hotkey[], enabled = true): void {
  const newest = useRef(table);
  useEffect(() => {
    newest.current = table;
  });
  useEffect(() => {
    if (!enabled) return;
    const onKeyDown = (event: KeyboardEvent) => {
      // Keys of a word that is being composed are the input method's.
      if (event.defaultPrevented || event.isComposing) return;
      if (document.querySelector('[role="dialog"], [role="menu"]')) return;
      const combo = comboOf(event);
      if (isSingleKey(combo) && !singleKeysOn()) return;
      const meaning = meaningOf(combo, placeOf(event.target), newest.current, event.repeat);
      if (meaning === undefined) return;
      event.preventDefault();
      if (meaning === 'blur') (event.target as HTMLElement).blur();
      else if (combo !== 'Escape' || mayLeave()) newest.current[meaning]?.run();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [enabled]);
}
