import { Glyph, type GlyphName } from './glyph';

export type Tone = 'active' | 'ok' | 'attention' | 'bad' | 'neutral';
/** What a status, disposition or verdict looks like: glyph, word and tone together, never colour alone. */
export interface MarkView {
  readonly tone: Tone;
  readonly glyph: GlyphName;
  readonly word: string;
}

export function Mark({ view, title }: { readonly view: MarkView; readonly title?: string }) {
  return (
    <span className="mark" data-tone={view.tone} title={title}>
      <Glyph name={view.glyph} />
      {view.word}
    </span>
  );
}

export function Badge({
  view,
  large = false,
  title,
  word,
}: {
  readonly view: MarkView;
  readonly large?: boolean;
  readonly title?: string;
  readonly word?: string;
}) {
  return (
    <span className="badge" data-tone={view.tone} data-size={large ? 'large' : undefined} title={title}>
      <Glyph name={view.glyph} />
      {word ?? view.word}
    </span>
  );
}
