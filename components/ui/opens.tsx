'use client';

import {
  type ComponentProps,
  createElement,
  type ReactNode,
  useCallback,
  useMemo,
  useRef,
  useState,
} from 'react';
import { type Part, PartMissing, useFetchedAhead, usePress } from './later';

/** How a button was pressed: a menu that a key opened has its first item chosen. */
export type Press = 'key' | 'pointer';

type OpensProps = Omit<ComponentProps<'button'>, 'role' | 'type' | 'onClick'> & {
  /** Of what it opens. */
  readonly role: 'menu' | 'dialog';
  readonly onOpen: (by: Press, control: HTMLElement) => void;
};

/** A button that opens something, for as long as that is not drawn. */
export function Opens({ role, onOpen, ...props }: OpensProps) {
  return (
    <button
      {...props}
      type="button"
      aria-haspopup={role}
      aria-expanded={false}
      // A click that a key made has no count of presses.
      onClick={({ detail, currentTarget }) => onOpen(detail === 0 ? 'key' : 'pointer', currentTarget)}
      onKeyDown={(event) => {
        if (role !== 'menu' || event.key !== 'ArrowDown') return;
        event.preventDefault();
        onOpen('key', event.currentTarget);
      }}
    />
  );
}

/**
 * The button of a menu or pop-up that is drawn, open, once it is pressed; until then it stands in the place of that one's
 * own. What it opens is code of its own.
 */
export function OpensLater<Props extends object>({
  of,
  props,
  ...control
}: Omit<OpensProps, 'onOpen'> & {
  readonly of: Part<Props & { readonly asked: Press }>;
  readonly props: Props;
}): ReactNode {
  const [asked, setAsked] = useState<Press>();
  const { busy, again, press } = usePress(of);
  useFetchedAhead(useMemo(() => [of], [of]));
  const component = of.component();
  if (asked !== undefined && component !== undefined) return createElement(component, { ...props, asked });
  return (
    <>
      <Opens
        {...control}
        aria-busy={busy || undefined}
        onOpen={(by, button) => press(button, () => setAsked(by))}
      />
      {again !== undefined && <PartMissing beside again={again} />}
    </>
  );
}

/** `ref` of a menu's content that is drawn open: where a key brought it, its first item has the focus. */
export function useFirstItem(asked: Press): (content: HTMLElement | null) => void {
  // The menu knows of the keys that are pressed while it is there; the one that brought it was before.
  const isFirst = useRef(asked === 'key');
  return useCallback((content) => {
    if (!isFirst.current || content === null) return;
    isFirst.current = false;
    content.querySelector<HTMLElement>('[role^="menuitem"]')?.focus();
  }, []);
}
