/* Sizes of panes that were changed, in this browser. */

const KEY = 'rerail-panes';

function kept(): Readonly<Record<string, number>> {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    if (typeof value !== 'object' || value === null) return {};
    return Object.fromEntries(
      Object.entries(value).filter(([, px]) => typeof px === 'number' && Number.isFinite(px)),
    ) as Record<string, number>;
  } catch {
    // No storage, or somebody else's words in it: the design's sizes hold.
    return {};
  }
}

export const keptSize = (pane: string): number | undefined => kept()[pane];

export function keepSize(pane: string, px: number | undefined): void {
  const { [pane]: _before, ...others } = kept();
  try {
    localStorage.setItem(KEY, JSON.stringify(px === undefined ? others : { ...others, [pane]: px }));
  } catch {
    // It holds until the page is left.
  }
}
