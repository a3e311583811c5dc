import { type ReactNode, Suspense } from 'react';
import { Shell } from '@/components/shell/shell';

export default function ConsoleLayout({ children }: { readonly children: ReactNode }) {
  return (
    <Shell>
      <Suspense>{children}</Suspense>
    </Shell>
  );
}
