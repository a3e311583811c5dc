import { Fragment } from 'react';

/** A sentence whose `code` is set as such. */
export function Prose({ text }: { readonly text: string }) {
  return text.split('`').map((part, at) => {
    // A part of a text that stays has its place for a name.
    const key = `${at}`;
    return at % 2 === 1 ? <code key={key}>{part}</code> : <Fragment key={key}>{part}</Fragment>;
  });
}
