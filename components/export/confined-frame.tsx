'use client';

import { useSearchParams } from 'next/navigation';
import { useTheme } from 'next-themes';
import { type ReactNode, useEffect, useMemo, useSyncExternalStore } from 'react';
import { frameDialogs } from '@/components/shell/frame-dialogs';
import { KeysDialog } from '@/components/shell/keys-dialog';
import { useOpener } from '@/components/shell/use-opener';
import { Confined } from '@/components/ui/confined';
import { Glyph } from '@/components/ui/glyph';
import { useHotkeys } from '@/components/ui/hotkeys';
import { runHref } from '@/lib/client/url-state';

/** Frame of a page that shows one run and leads nowhere else: what it is stands above it, all the time. */
export function ConfinedFrame({
  runId,
  label,
  reason,
  notice,
  children,
}: {
  readonly runId: string;
  readonly label: string;
  /** Why nothing can be done from here. */
  readonly reason: string;
  readonly notice: ReactNode;
  readonly children: ReactNode;
}) {
  const { resolvedTheme, setTheme } = useTheme();
  const flip = () => setTheme(resolvedTheme === 'dark' ? 'light' : 'dark');
  const search = useSearchParams().toString();
  const { open } = useSyncExternalStore(frameDialogs.subscribe, frameDialogs.snapshot, frameDialogs.atFirst);
  useEffect(() => frameDialogs.follow(search), [search]);
  useHotkeys([
    { key: '?', what: 'Keys', run: () => frameDialogs.show('keys') },
    { key: 'Shift+d', what: 'Light or dark', run: flip },
  ]);
  const confines = useMemo(
    () => ({ reason, here: (href: string) => queryOf(href, runHref(runId)) }),
    [runId, reason],
  );
  const opener = useOpener();
  return (
    <Confined value={confines}>
      <div className="confined">
        <section className="confined-bar" aria-label={label}>
          <b>Rerail</b>
          <Glyph name="info" />
          <span className="grow">{notice}</span>
          <button type="button" className="btn" data-kind="quiet" data-size="small" onClick={flip}>
            <Glyph name="moon" />
            Theme
          </button>
        </section>
        {children}
      </div>
      <KeysDialog open={open === 'keys'} opener={opener} />
    </Confined>
  );
}

/** The query of an address of the run's page, `?` where it has none; undefined for every other page. */
export function queryOf(href: string, page: string): string | undefined {
  const { origin, pathname, search } = new URL(href, HERE);
  return origin === HERE && pathname === page ? search || '?' : undefined;
}

const HERE = 'http://console.invalid';
