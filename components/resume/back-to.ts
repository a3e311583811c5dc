import { runHref } from '@/lib/client/url-state';

/** The run's page as it was left, cursor, tab and filter with it, where the tab comes from there; else the plain page. */
export function backTo(runId: string, previous: string | undefined): string {
  const plain = runHref(runId);
  if (previous === undefined || !URL.canParse(previous)) return plain;
  const { pathname, search } = new URL(previous);
  return pathname === plain ? `${pathname}${search}` : plain;
}

interface Navigation {
  readonly currentEntry: { readonly index: number } | null;
  readonly entries: () => readonly { readonly url: string | null }[];
}

/** Address of the tab's entry before this one, where the browser tells. */
export function previousUrl(): string | undefined {
  const { navigation } = window as unknown as { readonly navigation?: Navigation };
  const index = navigation?.currentEntry?.index ?? 0;
  return navigation?.entries()[index - 1]?.url ?? undefined;
}
