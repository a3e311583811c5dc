'use client';

import type { ReactNode } from 'react';
import { useConfines } from './confined';
import { Glyph, type GlyphName } from './glyph';
import { Link } from './link';

interface Look {
  readonly children?: ReactNode;
  readonly kind?: 'primary' | 'quiet';
  readonly size?: 'small' | 'large';
  readonly glyph?: GlyphName;
  /** Key that does the same, shown behind the word. */
  readonly hotkey?: string;
  /** Name where there is no word, and for screen readers. */
  readonly label?: string;
  readonly title?: string | undefined;
  /** Why it is not available; it stays focusable, so that the reason can be read. */
  readonly reason?: string | undefined;
}

interface ButtonProps extends Look {
  readonly onPress: () => void;
  readonly type?: 'button' | 'submit';
}

const inside = ({ glyph, children, hotkey }: Look) => (
  <>
    {glyph && <Glyph name={glyph} />}
    {children}
    {hotkey && (
      <span aria-hidden="true">
        <kbd>{hotkey}</kbd>
      </span>
    )}
  </>
);

export function Button(props: ButtonProps) {
  const locked = props.reason !== undefined;
  return (
    <button
      type={props.type ?? 'button'}
      className="btn"
      data-kind={props.kind}
      data-size={props.size}
      data-icon={props.children === undefined ? '' : undefined}
      aria-label={props.label}
      aria-disabled={locked || undefined}
      title={props.reason ?? props.title ?? (props.children === undefined ? props.label : undefined)}
      onClick={(event) => {
        if (locked) event.preventDefault();
        else props.onPress();
      }}
    >
      {inside(props)}
    </button>
  );
}

/** A link that looks like a button. Not available: a button that says why. */
export function ButtonLink(props: Look & { readonly href: string }) {
  const confines = useConfines();
  const reason = props.reason ?? confines?.reason;
  if (reason !== undefined) return <Button {...props} reason={reason} onPress={() => undefined} />;
  return (
    <Link
      className="btn"
      data-kind={props.kind}
      data-size={props.size}
      data-key={props.hotkey?.toLowerCase()}
      aria-label={props.label}
      title={props.title}
      href={props.href}
    >
      {inside(props)}
    </Link>
  );
}
