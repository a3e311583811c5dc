import type { GlyphName } from '@/components/ui/glyph';

/* What the navigation holds, in one place: frame, keys and commands are made from it. */

export interface NavEntry {
  readonly name: string;
  readonly href: string;
  readonly glyph: GlyphName;
  /** Two keys, one after the other, as hotkeys name them. */
  readonly key: string;
}

export const navigation = [
  { name: 'Runs', href: '/runs', glyph: 'n-runs', key: 'g r' },
  { name: 'Audit', href: '/audit', glyph: 'n-audit', key: 'g a' },
  { name: 'Connect', href: '/connect', glyph: 'n-connect', key: 'g c' },
  { name: 'API', href: '/api-reference', glyph: 'n-api', key: 'g p' },
] as const satisfies readonly NavEntry[];

/** Whether the path is the entry's page or one below it. */
export const isUnder = (path: string, href: string): boolean => path === href || path.startsWith(`${href}/`);

/** Pages with an instrument of their own give it the room that the names of the navigation would take. */
export const isNarrow = (path: string): boolean => !navigation.some((entry) => entry.href === path);

/** Where Escape leads: the run of a plan, the list of a run, and from every other page the list as well. */
export function levelAbove(path: string): string | undefined {
  const [, area, runId, part] = path.split('/');
  if (area === 'runs' && runId !== undefined && part !== undefined) return `/runs/${runId}`;
  return path === '/runs' ? undefined : '/runs';
}
