'use client';

import Link from 'next/link';
import { usePathname } from 'next/navigation';
import { useTheme } from 'next-themes';
import { type ReactNode, useState } from 'react';
import { Glyph } from '@/components/ui/glyph';
import { useHotkeys } from '@/components/ui/hotkeys';
import { KeysDialog } from './keys-dialog';

/** Frame of every page: navigation, theme, keys. The run's pages get the narrow rail. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const path = usePathname();
  const [keysOpen, setKeysOpen] = useState(false);
  const { resolvedTheme, setTheme } = useTheme();
  const flip = () => setTheme(resolvedTheme === 'dark' ? 'light' : 'dark');
  useHotkeys([
    { key: '?', what: 'this list', run: () => setKeysOpen(true) },
    { key: 'Shift+d', what: 'light or dark', run: flip },
  ]);
  return (
    <div className="app" data-nav={path === '/runs' ? undefined : 'rail'}>
      <a className="skip-link" href="#main">
        Skip to the content
      </a>
      <nav className="nav" aria-label="Main">
        <Link className="nav-brand" href="/runs" aria-label="Rerail, runs">
          <svg viewBox="0 0 18 18" fill="none" strokeLinecap="round" aria-hidden="true">
            <path d="M1.5 13.5h15" stroke="currentColor" strokeWidth="1.8" />
            <path d="M1.5 13.5h2.2c4.8 0 5-8.5 9.3-8.5h3.5" stroke="var(--accent)" strokeWidth="1.8" />
            <circle cx="13.6" cy="5" r="2" fill="var(--surface)" stroke="var(--accent)" strokeWidth="1.6" />
          </svg>
          <span className="word">Rerail</span>
        </Link>
        <Link
          href="/runs"
          title="Runs"
          aria-label="Runs"
          aria-current={path.startsWith('/runs') ? 'page' : undefined}
        >
          <Glyph name="n-runs" />
          <span className="word">Runs</span>
        </Link>
        <div className="nav-foot">
          <button type="button" onClick={() => setKeysOpen(true)} title="Keys (?)" aria-label="Keys">
            <Glyph name="info" />
            <span className="word">Keys</span>
          </button>
          <button type="button" onClick={flip} title="Light or dark (⇧D)" aria-label="Theme">
            <Glyph name="moon" />
            <span className="word">Theme</span>
          </button>
          <p className="where">Times in UTC</p>
        </div>
      </nav>
      <div id="main" className="contents">
        {children}
      </div>
      <KeysDialog open={keysOpen} onOpenChange={setKeysOpen} />
    </div>
  );
}
