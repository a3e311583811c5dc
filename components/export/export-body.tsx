'use client';

import type { RunSummary } from '@/lib/client/api-types';
import { ExportCopy } from './export-copy';
import { ExportFiles } from './export-files';
import { ExportLink } from './export-link';

export function ExportBody({ run }: { readonly run: RunSummary }) {
  return (
    <>
      <ExportLink run={run} />
      <ExportFiles run={run} />
      <ExportCopy run={run} />
    </>
  );
}
