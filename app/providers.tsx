'use client';

import { QueryClientProvider } from '@tanstack/react-query';
import { ThemeProvider, useTheme } from 'next-themes';
import { NuqsAdapter } from 'nuqs/adapters/next/app';
import { type CSSProperties, type ReactNode, useState } from 'react';
import { Toaster } from 'sonner';
import { WorkersWatch } from '@/components/shell/workers-watch';
import { newQueryClient } from '@/lib/client/query-client';

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
function Toasts() {
  const { resolvedTheme } = useTheme();
  return (
    <Toaster
      position="bottom-right"
      offset={PLACE}
      style={SURFACE}
      toastOptions={{ style: TOAST }}
      theme={resolvedTheme === 'dark' ? 'dark' : 'light'}
    />
  );
}

export function Providers({ children }: { readonly children: ReactNode }) {
  const [client] = useState(newQueryClient);
  return (
    <ThemeProvider attribute="data-theme" defaultTheme="system" enableSystem disableTransitionOnChange>
      <QueryClientProvider client={client}>
        <NuqsAdapter>{children}</NuqsAdapter>
        <WorkersWatch />
        <Toasts />
      </QueryClientProvider>
    </ThemeProvider>
  );
}
