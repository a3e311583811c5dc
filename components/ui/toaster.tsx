'use client';

import { useTheme } from 'next-themes';
import { type CSSProperties, useEffect } from 'react';
import { Toaster as Sonner, toast } from 'sonner';
import { toasts } from './toast';

/** Above the scrubber. */
const PLACE = { bottom: 166, right: 14 };
/* As menus look. Sonner's own styles are in no layer, so ours give way to them everywhere but here. */
const SURFACE = {
  '--normal-bg': 'var(--surface-raised)',
  '--normal-border': 'var(--line-strong)',
  '--normal-text': 'var(--text)',
  '--border-radius': 'var(--radius)',
  fontFamily: 'var(--font-ui)',
} as CSSProperties;
const TOAST = { padding: '10px 12px', fontSize: 'var(--size-base)', boxShadow: 'var(--shadow-pop)' };

/** In the theme that was chosen. */
export function Toaster() {
  const { resolvedTheme } = useTheme();
  useEffect(() => toasts.showWith(({ kind, words, more }) => void toast[kind](words, more)), []);
  return (
    <Sonner
      position="bottom-right"
      offset={PLACE}
      style={SURFACE}
      toastOptions={{ style: TOAST }}
      theme={resolvedTheme === 'dark' ? 'dark' : 'light'}
    />
  );
}
