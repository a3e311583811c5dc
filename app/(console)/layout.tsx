import { connection } from 'next/server';
import { type ReactNode, Suspense } from 'react';
import { Shell } from '@/components/shell/shell';
import { UploadsOfPage } from '@/components/upload/uploads';
import { readUploadTerms } from '@/lib/server/pages';

export default async function ConsoleLayout({ children }: { readonly children: ReactNode }) {
  await connection();
  const terms = await readUploadTerms();
  return (
    <Shell>
      {children}
      <Suspense>
        <UploadsOfPage terms={terms} />
      </Suspense>
    </Shell>
  );
}
