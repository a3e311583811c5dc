'use client';

import type { ComponentProps } from 'react';

/** How a button was pressed: a menu that a key opened has its first item chosen. */
export type Press = 'key' | 'pointer';

/** The button of a menu or pop-up that is drawn, open, once it is pressed; until then it stands in the place of that one's own. */
export function Opens({
  role,
  onOpen,
  ...props
}: Omit<ComponentProps<'button'>, 'role' | 'type' | 'onClick'> & {
  /** Of what it opens. */
  readonly role: 'menu' | 'dialog';
  readonly onOpen: (by: Press) => void;
}) {
  return (
    <button
      {...props}
      type="button"
      aria-haspopup={role}
      aria-expanded={false}
      // A click that a key made has no count of presses.
      onClick={({ detail }) => onOpen(detail === 0 ? 'key' : 'pointer')}
      onKeyDown={(event) => {
        if (role !== 'menu' || event.key !== 'ArrowDown') return;
        event.preventDefault();
        onOpen('key');
      }}
    />
  );
}
