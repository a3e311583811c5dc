'use client';

import { useEffect, useRef, useState } from 'react';
import type { ApiProblem } from '@/lib/client/api';
import { download, saveFile } from '@/lib/client/download';

export type Download =
  | { readonly kind: 'idle' }
  | { readonly kind: 'going'; readonly bytes: number }
  | { readonly kind: 'done'; readonly bytes: number; readonly name: string }
  | { readonly kind: 'failed'; readonly problem: ApiProblem };

/** A file on its way to whoever looks at the page; leaving the page gives it up. */
export function useDownload() {
  const [state, setState] = useState<Download>({ kind: 'idle' });
  const stop = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const begin = async (url: string, name: string) => {
    stop.current?.abort();
    const mine = new AbortController();
    stop.current = mine;
    setState({ kind: 'going', bytes: 0 });
    try {
      const file = await download(url, (bytes) => setState({ kind: 'going', bytes }), mine.signal);
      if (mine.signal.aborted) return;
      if (!file.ok) return setState({ kind: 'failed', problem: file.problem });
      saveFile(file.value, name);
      setState({ kind: 'done', bytes: file.value.size, name });
    } catch {
      // Given up: whoever did that has said what is shown now.
    }
  };
  const cancel = () => {
    stop.current?.abort();
    setState({ kind: 'idle' });
  };
  return { state, begin: (url: string, name: string) => void begin(url, name), cancel };
}
