'use client';

import { QueryClientProvider } from '@tanstack/react-query';
import { ThemeProvider, useTheme } from 'next-themes';
import { NuqsAdapter } from 'nuqs/adapters/next/app';
import { type ReactNode, useState } from 'react';
import { Toaster } from 'sonner';
import { WorkersWatch } from '@/components/shell/workers-watch';
import { newQueryClient } from '@/lib/client/query-client';

/** In the theme that was chosen. */
function Toasts() {
  const { resolvedTheme } = useTheme();
  return <Toaster position="bottom-right" theme={resolvedTheme === 'dark' ? 'dark' : 'light'} />;
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
