'use client';

import { QueryClientProvider } from '@tanstack/react-query';
import { usePathname } from 'next/navigation';
import { ThemeProvider, useTheme } from 'next-themes';
import { NuqsAdapter } from 'nuqs/adapters/next/app';
import { type CSSProperties, type ReactNode, useState } from 'react';
import { Toaster } from 'sonner';
import { WorkersWatch } from '@/components/shell/workers-watch';
import { SignedOut } from '@/components/sign-in/signed-out';
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

/** For what puts styles into the page by itself, dialogs that lock the scroll: `get-nonce` looks there. */
function tellNonce(nonce: string | undefined): void {
  if (typeof window !== 'undefined') Object.assign(window, { __webpack_nonce__: nonce });
}

export function Providers({
  children,
  nonce,
}: {
  readonly children: ReactNode;
  /** Of this page's content policy. */
  readonly nonce: string | undefined;
}) {
  const [client] = useState(() => {
    tellNonce(nonce);
    return newQueryClient();
  });
  // Whoever signs in, or follows a shared link, may ask for none of it.
  const path = usePathname();
  const inside = path !== '/sign-in' && !path.startsWith('/shared/');
  return (
    <ThemeProvider
      attribute="data-theme"
      defaultTheme="system"
      enableSystem
      disableTransitionOnChange
      {...(nonce !== undefined && { nonce })}
    >
      <QueryClientProvider client={client}>
        <NuqsAdapter>{children}</NuqsAdapter>
        {inside && <WorkersWatch />}
        {inside && <SignedOut />}
        <Toasts />
      </QueryClientProvider>
    </ThemeProvider>
  );
}
