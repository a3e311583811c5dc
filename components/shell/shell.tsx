'use client';

import { useQuery } from '@tanstack/react-query';
import { usePathname, useRouter } from 'next/navigation';
import { useTheme } from 'next-themes';
import { type ReactNode, useEffect, useRef } from 'react';
import { WhoIsHere } from '@/components/sign-in/who-is-here';
import { plural, short, whole } from '@/components/ui/format';
import { Glyph } from '@/components/ui/glyph';
import { useHotkeys, useMod } from '@/components/ui/hotkeys';
import { Link } from '@/components/ui/link';
import { runsTotalQuery } from '@/lib/client/frame-queries';
import { frameDialogs } from './frame-dialogs';
import { keyWords } from './keys';
import { isNarrow, isUnder, levelAbove, navigation } from './nav';
import { nextNeed } from './needs';
import { Overlays } from './overlays';
import { useNeeds } from './use-needs';
import { Zone } from './zone';

/** Frame of every page: navigation, commands, keys, theme. Pages that are one instrument get the narrow navigation. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const path = usePathname();
  const router = useRouter();
  const { resolvedTheme, setTheme } = useTheme();
  const flip = () => setTheme(resolvedTheme === 'dark' ? 'light' : 'dark');
  const mod = useMod();
  const { needs, total, known } = useNeeds();
  const next = nextNeed(needs, runIn(path));
  const above = levelAbove(path);
  useHotkeys(
    [
      { key: 'Mod+k', what: 'Commands', run: () => frameDialogs.show('palette') },
      { key: '?', what: 'Keys', run: () => frameDialogs.show('keys') },
      { key: 'Shift+d', what: 'Light or dark', run: flip },
      {
        key: 'n',
        what: 'Next run that needs a person',
        reason: next === undefined ? (known ? 'No run needs a person' : 'Not read yet') : undefined,
        run: () => next && router.push(next.href),
      },
      {
        key: 'Escape',
        what: 'Up one level',
        reason: above === undefined ? 'There is nothing above this' : undefined,
        run: () => above !== undefined && router.push(above),
      },
      ...navigation.map(({ key, name, href }) => ({
        key,
        what: `Go to ${name}`,
        run: () => router.push(href),
      })),
    ],
    true,
    'frame',
  );
  return (
    <div className="app" data-nav={isNarrow(path) ? 'rail' : undefined}>
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
        {navigation.map(({ name, href, glyph, key }) => (
          <Link
            key={href}
            href={href}
            title={`${name} (${keyWords(key, mod)})`}
            aria-label={name}
            aria-current={path === href ? 'page' : isUnder(path, href) ? 'true' : undefined}
          >
            <Glyph name={glyph} />
            <span className="word">{name}</span>
            {href === '/runs' && <RunsCount />}
          </Link>
        ))}
        {next && (
          <Link
            href={next.href}
            className="needs"
            title={`${next.runId}: ${next.words} (N)`}
            aria-label={`Next run that needs a person: ${next.runId}, ${next.words}`}
          >
            <Glyph name="s-waiting" />
            <span className="word">Needs a person</span>
            <span className="count" data-tone="bad" title={plural(total, 'run')}>
              {whole(total)}
            </span>
          </Link>
        )}
        <div className="nav-foot">
          <button
            type="button"
            onClick={() => frameDialogs.show('palette')}
            title={`Run any command (${keyWords('Mod+k', mod)})`}
            aria-label="Command"
          >
            <Glyph name="search" />
            <span className="word">Command</span>
            <span className="count" aria-hidden="true">
              <kbd>{keyWords('Mod+k', mod)}</kbd>
            </span>
          </button>
          <button type="button" onClick={() => frameDialogs.show('keys')} title="Keys (?)" aria-label="Keys">
            <Glyph name="info" />
            <span className="word">Keys</span>
            <span className="count" aria-hidden="true">
              <kbd>?</kbd>
            </span>
          </button>
          <button type="button" onClick={flip} title="Light or dark (⇧D)" aria-label="Theme">
            <Glyph name="moon" />
            <span className="word">Theme</span>
            <span className="count" aria-hidden="true">
              <kbd>⇧D</kbd>
            </span>
          </button>
          <WhoIsHere />
          <Zone />
        </div>
      </nav>
      <Content path={path}>
        {/* No boundary: what is in one comes hidden behind the document, and is shown by a script. */}
        {children}
        <Overlays />
      </Content>
    </div>
  );
}

const runIn = (path: string): string | undefined => {
  const [, area, runId] = path.split('/');
  return area === 'runs' && runId !== undefined ? decodeURIComponent(runId) : undefined;
};

function RunsCount() {
  const { data } = useQuery(runsTotalQuery);
  if (data === undefined) return null;
  return (
    <span className="count" title={plural(data, 'run')}>
      {data < 100_000 ? whole(data) : short(data)}
    </span>
  );
}

/** What is not navigation. Whoever moves on by a link or a key stands at its beginning, not at a link that is gone. */
function Content({ path, children }: { readonly path: string; readonly children: ReactNode }) {
  const area = useRef<HTMLDivElement>(null);
  const seen = useRef(path);
  useEffect(() => {
    if (seen.current === path) return;
    seen.current = path;
    const focused = document.activeElement;
    if (focused === null || focused === document.body || focused.closest('.nav') !== null)
      area.current?.focus({ preventScroll: true });
  }, [path]);
  return (
    <div id="main" className="frame-content" ref={area} tabIndex={-1}>
      {children}
    </div>
  );
}
