'use client';

import type { ComponentProps } from 'react';

/** The button of a menu or pop-up that is drawn, open, once it is pressed; until then it stands in the place of that one's own. */
export function Opens({
  role,
  onOpen,
  ...props
}: Omit<ComponentProps<'button'>, 'role' | 'type' | 'onClick'> & {
  /** Of what it opens. */
  readonly role: 'menu' | 'dialog';
  readonly onOpen: () => void;
}) {
  return (
    <button
      {...props}
      type="button"
      aria-haspopup={role}
      aria-expanded={false}
      onClick={onOpen}
      onKeyDown={(event) => {
        if (role !== 'menu' || event.key !== 'ArrowDown') return;
        event.preventDefault();
        onOpen();
      }}
    />
  );
}
