import { Glyph, type GlyphName } from '@/components/ui/glyph';
import type { StepRow } from '@/lib/client/api-types';

type Effect = NonNullable<StepRow['effect']>;

const tags = {
  external: { glyph: 'e-external', word: 'EXTERNAL', title: 'External: irreversible, never sent twice' },
  idempotent: {
    glyph: 'e-idempotent',
    word: 'IDEMPOTENT',
    title: 'Idempotent: may be repeated under the same key',
  },
  read: { glyph: 'e-read', word: 'READ', title: 'Read: asks and changes nothing' },
  pure: { glyph: 'e-pure', word: 'PURE', title: 'Pure: touches nothing outside' },
} as const satisfies Record<Effect, { glyph: GlyphName; word: string; title: string }>;

export function EffectTag({ effect }: { readonly effect: Effect }) {
  const { glyph, word, title } = tags[effect];
  return (
    <span className="tag" data-effect={effect} title={title}>
      <Glyph name={glyph} />
      {word}
    </span>
  );
}
