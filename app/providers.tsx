'use client';

import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { ThemeProvider } from 'next-themes';
import { NuqsAdapter } from 'nuqs/adapters/next/app';
import { type ReactNode, useState } from 'react';
import { Toaster } from 'sonner';
import { problemOf } from '@/lib/client/api';

const newClient = () =>
  new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 2_000,
        // A refusal will not change by asking again; a console that does not answer may come back.
        retry: (failures, error) => problemOf(error).status === 0 && failures < 3,
      },
    },
  });

export function Providers({ children }: { readonly children: ReactNode }) {
  const [client] = useState(newClient);
  return (
    <ThemeProvider attribute="data-theme" defaultTheme="system" enableSystem disableTransitionOnChange>
      <QueryClientProvider client={client}>
        <NuqsAdapter>{children}</NuqsAdapter>
        <Toaster position="bottom-right" theme="system" />
      </QueryClientProvider>
    </ThemeProvider>
  );
}
