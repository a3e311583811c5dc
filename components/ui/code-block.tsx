import { CopyButton } from './copy-button';

/** A text to be copied, as it is. It scrolls by itself, with the keyboard too. */
export function CodeBlock({
  name,
  text,
  note,
}: {
  readonly name: string;
  readonly text: string;
  readonly note?: string;
}) {
  return (
    <figure className="code-block">
      <figcaption>
        <code>{name}</code>
        {note !== undefined && <span className="second">{note}</span>}
        <span className="grow" />
        <CopyButton text={text} what={name} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section tabIndex={0} aria-label={name}>
        <pre>
          <code>{text}</code>
        </pre>
      </section>
    </figure>
  );
}
