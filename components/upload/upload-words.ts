import { plural, size, whole } from '@/components/ui/format';
import type { Tone } from '@/components/ui/mark';
import { type ApiProblem, isDefinite } from '@/lib/client/api';
import { TOO_LARGE, type Upload, type UploadReport, type UploadState } from '@/lib/client/uploads';

/* An upload in words: one place for the list, the strip in the corner and what is announced. */

/** How far it is, 0 to 1; undefined while nobody knows. */
export const shareOf = ({ file, state }: Upload): number | undefined =>
  state.kind === 'sends' ? (file.size === 0 ? 0 : state.sent / file.size) : undefined;

/** What one file came to. */
export function reportWords({ runs, warnings }: UploadReport): string {
  const fresh = runs.filter(({ added }) => added > 0);
  const notes = warnings.length === 0 ? '' : `, ${plural(warnings.length, 'note')}`;
  if (runs.length === 0) return `No run in it${notes}`;
  if (fresh.length === 0) return `Nothing new: ${plural(runs.length, 'run')} known already${notes}`;
  const known = runs.length - fresh.length;
  return `${plural(fresh.length, 'run')} read${known === 0 ? '' : `, ${known} known already`}${notes}`;
}

export function stateWords({ file, state }: Upload): string {
  switch (state.kind) {
    case 'waits':
      return `Waits for its turn, ${size(file.size)}`;
    case 'sends':
      return `${size(state.sent)} of ${size(file.size)} sent`;
    case 'reads':
      return `${size(file.size)} sent; the console reads it`;
    case 'done':
      return reportWords(state.report);
    case 'refused':
      return isStoredPerhaps(state.problem)
        ? `${state.problem.title}: it is not known whether it was stored. Sent again it adds nothing twice.`
        : `${state.problem.title}: nothing of it was stored`;
    case 'stopped':
      return state.unknown
        ? 'Stopped after all of it was sent: it may have been stored. Sent again it adds nothing twice.'
        : 'Stopped: nothing of it was stored';
  }
}

/** The console's own refusal, and one that was never sent, say for sure; a failure half-way, and no answer, do not. */
const isStoredPerhaps = (problem: ApiProblem): boolean => !isDefinite(problem) && problem.kind !== TOO_LARGE;

/** Something said of a file, and where in it; `place` is empty where that is all of it. */
export interface Told {
  readonly place: string;
  readonly message: string;
}

/** `at $.runs[3]`, `line 2, at $.run`. The root of a document is no place in it. */
export function toldOf({ path, message }: UploadReport['warnings'][number]): Told {
  // A message may begin with its place inside the line that `path` names.
  const [, inner, rest] = /^(\$(?:[.[][^\s:]*)?): (.*)$/s.exec(message) ?? [];
  const places = [...path.split(', '), inner ?? '']
    .filter((place) => place !== '' && place !== '$' && place !== 'body')
    .map((place) => (place.startsWith('$') ? `at ${place}` : place));
  return { place: places.join(', '), message: rest ?? message };
}

/** What a refusal says, each thing once: `detail` may be one of the errors over again. */
export function refusalOf({ detail, errors }: Pick<ApiProblem, 'detail' | 'errors'>): readonly Told[] {
  const same = (text: string) => bare(text) === bare(detail);
  const told = errors.map(toldOf);
  return errors.some(({ path, message }) => same(message) || same(`${path}: ${message}`))
    ? told
    : [toldOf({ path: '', message: detail }), ...told];
}

const bare = (text: string): string => text.toLowerCase().replace(/\.$/, '');

/** `Not JSON: …`, which stands alone. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export const uploadTone = {
  waits: 'neutral',
  sends: 'active',
  reads: 'active',
  done: 'ok',
  refused: 'bad',
  stopped: 'neutral',
} as const satisfies Record<UploadState['kind'], Tone>;

/** What a run came to in the file that brought it. */
export const runWords = ({ events, steps, checkpoints, added }: UploadReport['runs'][number]): string =>
  added === 0
    ? `nothing new, ${plural(events, 'event')} known already`
    : `${added === events ? plural(events, 'event') : `${whole(added)} of ${plural(events, 'event')} new`}, ${plural(steps, 'step')}, ${plural(checkpoints, 'checkpoint')}`;

/** All of them in a line; undefined where none is on its way. */
export function underWayWords(all: readonly Upload[]): string | undefined {
  const open = all.filter(
    ({ state }) => state.kind === 'waits' || state.kind === 'sends' || state.kind === 'reads',
  );
  const current = open.find(({ state }) => state.kind !== 'waits');
  if (current === undefined) return undefined;
  const share = shareOf(current);
  const how = share === undefined ? 'being read' : `${Math.floor(share * 100)}%`;
  return open.length === 1 ? `Uploading, ${how}` : `Uploading, ${how}; ${open.length - 1} more to go`;
}
