import type { GlyphName } from '@/components/ui/glyph';
import type { PlanMode } from '@/lib/client/api-types';

/** What each kind of order does, in a word and a sentence. */
export const modes = {
  resume: {
    word: 'Resume',
    glyph: 'resume',
    sentence:
      'Goes on in the same run. Recorded results are returned, confirmed effects are never sent again.',
  },
  fork: {
    word: 'Fork',
    glyph: 'fork',
    sentence:
      'Makes a new run from this point; effects that it inherits keep their keys and are not sent again.',
  },
  replay: {
    word: 'Replay',
    glyph: 'replay',
    sentence: 'A new run from the start: pure steps run, all else answers from the record; nothing goes out.',
  },
  rewind: {
    word: 'Rewind',
    glyph: 'rewind',
    sentence:
      'The same run goes back. Nothing outside is undone: confirmed effects that came later have to be kept in force.',
  },
} as const satisfies Record<PlanMode, { word: string; glyph: GlyphName; sentence: string }>;
