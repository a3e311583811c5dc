import type { Hotkey } from '@/components/ui/hotkeys';

/** The rows of the plan, and the heads of its groups. */
const rows = () => [
  ...document.querySelectorAll<HTMLElement>(
    '.plan-table tbody tr[tabindex], .plan-table tbody .group button',
  ),
];

function step(by: 1 | -1): void {
  const all = rows();
  const here = all.findIndex((row) => row === document.activeElement || row.contains(document.activeElement));
  const next = here === -1 ? (by === 1 ? all[0] : all.at(-1)) : all[here + by];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

/** Up and down the rows of the plan. */
export const rowKeys: readonly Hotkey[] = [
  { key: 'ArrowDown', what: 'Row down', run: () => step(1) },
  { key: 'ArrowUp', what: 'Row up', run: () => step(-1) },
];
