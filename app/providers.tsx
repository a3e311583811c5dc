'use client';

import { QueryClientProvider } from '@tanstack/react-query';
import { usePathname } from 'next/navigation';
import { ThemeProvider } from 'next-themes';
import { NuqsAdapter } from 'nuqs/adapters/next/app';
import { type ReactNode, useState, useSyncExternalStore } from 'react';
import { WorkersWatch } from '@/components/shell/workers-watch';
import { SignedOut } from '@/components/sign-in/signed-out';
import { Later, part } from '@/components/ui/later';
import { toasts } from '@/components/ui/toast';
import { newQueryClient } from '@/lib/client/query-client';

const toaster = part(() => import('@/components/ui/toaster').then((module) => module.Toaster));

function Toasts() {
  const shown = useSyncExternalStore(toasts.subscribe, toasts.areWaiting, () => false);
  // The place that screen readers listen to stands before anything is said there.
  return <Later of={toaster} shown={shown} stands props={{}} />;
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
