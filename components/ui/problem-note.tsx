import type { ReactNode } from 'react';
import { Glyph } from './glyph';

/** A failure, next to what failed, with what to do about it. */
export function ProblemNote({
  title,
  detail,
  open = false,
  children,
}: {
  readonly title: string;
  readonly detail?: string;
  /** Not a failure yet: something is not known. */
  readonly open?: boolean;
  readonly children?: ReactNode;
}) {
  return (
    <div className="note m-3" data-tone={open ? 'attention' : 'bad'} role="alert">
      <Glyph name={open ? 's-unknown' : 's-failed'} />
      <div className="grow">
        <strong>{title}</strong>
        {detail !== undefined && detail !== title && <p className="break-words">{detail}</p>}
        {children && <div className="mt-1 flex gap-2">{children}</div>}
      </div>
    </div>
  );
}

/** Nothing to show: why, and what to do next. */
export function EmptyNote({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <strong>{title}</strong>
      {children && <div className="second">{children}</div>}
    </div>
  );
}

/** Placeholder in the shape of rows to come. */
export function Skeleton({ rows }: { readonly rows: number }) {
  return (
    <div className="p-4" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, n) => `row ${n}`).map((row) => (
        <div key={row} className="skeleton" />
      ))}
    </div>
  );
}
