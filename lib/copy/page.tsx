import { QueryClientProvider } from '@tanstack/react-query';
import { ThemeProvider } from 'next-themes';
import { NuqsAdapter } from 'nuqs/adapters/react';
import { createRoot } from 'react-dom/client';
import { ConfinedFrame } from '@/components/export/confined-frame';
import { RunPage } from '@/components/run/run-page';
import { absolute, plural, size } from '@/components/ui/format';
import { useZone } from '@/components/ui/zone';
import { newQueryClient } from '@/lib/client/query-client';
import { readFrom } from '@/lib/client/source';
import { type Copied, readCopy, unpacked } from './content';
import { copySource, READ_ONLY } from './copy-source';
import { keepElk } from './elk';
import { watchAddress } from './next/navigation';

const DATA = 'rerail-copy';
const ELK = 'rerail-elk';

function Notice({ copied: { notice, leftOut } }: { readonly copied: Copied }) {
  const zone = useZone();
  const bytes = [...leftOut.values()].reduce((sum, payload) => sum + payload.bytes, 0);
  return (
    <>
      A copy of this run, made {absolute(Date.parse(notice.at), zone)} by {notice.by}
      {notice.console !== null && <> at {notice.console}</>}. Read-only; what came later is not in it.
      {leftOut.size > 0 && (
        <>
          {' '}
          {plural(leftOut.size, 'value')} ({size(bytes)}) left out for their size.
        </>
      )}
    </>
  );
}

function Page({ copied }: { readonly copied: Copied }) {
  const { runId } = copied.copy.run;
  return (
    <ConfinedFrame
      runId={runId}
      label="About this copy"
      reason={READ_ONLY}
      notice={<Notice copied={copied} />}
    >
      <RunPage runId={runId} />
    </ConfinedFrame>
  );
}

const textOf = (id: string) => document.getElementById(id)?.textContent ?? '';

async function whole(texts: ReadableStream<string>): Promise<string> {
  const reader = texts.getReader();
  const parts: string[] = [];
  for (let part = await reader.read(); !part.done; part = await reader.read()) parts.push(part.value);
  return parts.join('');
}

async function start(root: HTMLElement): Promise<void> {
  const [copied, elk] = await Promise.all([readCopy(textOf(DATA)), whole(unpacked(textOf(ELK)))]);
  // The texts were read; nobody needs them any more.
  document.getElementById(DATA)?.remove();
  document.getElementById(ELK)?.remove();
  keepElk(elk);
  watchAddress();
  readFrom(copySource(copied));
  document.title = `${copied.copy.run.runId} · Rerail, a copy`;
  createRoot(root).render(
    <ThemeProvider attribute="data-theme" defaultTheme="system" enableSystem disableTransitionOnChange>
      <QueryClientProvider client={newQueryClient()}>
        <NuqsAdapter>
          <Page copied={copied} />
        </NuqsAdapter>
      </QueryClientProvider>
    </ThemeProvider>,
  );
}

const root = document.getElementById('root');
if (root !== null)
  start(root).catch((error: unknown) => {
    root.textContent =
      typeof DecompressionStream === 'undefined'
        ? 'This browser cannot unpack the copy: it needs Chrome 80, Firefox 113, Safari 16.4 or later.'
        : `This copy of a run cannot be read. ${error instanceof Error ? error.message : String(error)}`;
  });
