'use client';

import { useEffect, useRef } from 'react';

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
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Enter and Space belong to the control that has the focus. */
const pressing = (target: EventTarget | null, combo: string) =>
  (combo === ' ' || combo === 'Enter') &&
  target instanceof HTMLElement &&
  target.closest('button, a, summary, input, [role="tab"], [role="menuitem"], [role="treeitem"]') !== null;

/** Binds keys to the window while mounted. Keys pressed in a field, or in an open dialog, belong to that field or dialog. */
export function useHotkeys(table: readonly Hotkey[], enabled = true): void {
  const newest = useRef(table);
  useEffect(() => {
    newest.current = table;
  });
  useEffect(() => {
    if (!enabled) return;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return;
      const combo = comboOf(event);
      if (typing(event.target) && !combo.startsWith('Mod+') && combo !== 'Escape') return;
      if (pressing(event.target, combo)) return;
      if (document.querySelector('[role="dialog"], [role="menu"]')) return;
      const hotkey = newest.current.find((each) => each.key === combo);
      if (!hotkey) return;
      event.preventDefault();
      hotkey.run();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [enabled]);
}
