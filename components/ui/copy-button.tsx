'use client';

import { useEffect, useState } from 'react';
import { Button } from './button';

const SHOWN_MS = 2_000;

type Copied = 'not' | 'copied' | 'refused';
const words = { not: 'Copy', copied: 'Copied', refused: 'Not copied' } as const satisfies Record<
  Copied,
  string
>;

/** Puts the text on the clipboard, and says so. `what` is what is copied, for who does not see where the button stands. */
export function CopyButton({
  text,
  what,
  compact = false,
}: {
  readonly text: string;
  readonly what: string;
  /** Without a word, where room is scarce. */
  readonly compact?: boolean;
}) {
  const [copied, setCopied] = useState<Copied>('not');
  useEffect(() => {
    if (copied === 'not') return;
    const back = setTimeout(() => setCopied('not'), SHOWN_MS);
    return () => clearTimeout(back);
  }, [copied]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied('copied');
    } catch {
      // No clipboard without a secure context, or none that the browser lets us have: the text can be marked.
      setCopied('refused');
    }
  };
  return (
    <span className="copy">
      <Button
        size="small"
        kind="quiet"
        glyph={copied === 'copied' ? 's-completed' : 'copy'}
        label={`Copy ${what}`}
        title={
          copied === 'refused' ? 'The browser does not let this page copy; mark the text instead.' : undefined
        }
        onPress={() => void copy()}
      >
        {compact ? undefined : words[copied]}
      </Button>
      <span className="visually-hidden" role="status">
        {copied === 'not' ? '' : `${words[copied]}: ${what}`}
      </span>
    </span>
  );
}
