import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { answerOf, NotYet, part } from './later';

/** A part whose code comes when the test says so; each try is one more of `tries`. */
function held() {
  const tries: { readonly come: () => void; readonly fail: () => void }[] = [];
  const of = part(
    () =>
      new Promise<() => null>((resolve, reject) => {
        tries.push({ come: () => resolve(() => null), fail: () => reject(new Error('no answer')) });
      }),
  );
  return { of, tries };
}

describe('a press on what must be fetched first', () => {
  it('is answered where the one who pressed still waits, and not where somebody went on', async () => {
    for (const waits of [true, false]) {
      const { of, tries } = held();
      const answer = answerOf(of, () => waits);
      tries[0]?.come();
      expect(await answer).toBe(waits ? 'there' : 'left');
      expect(of.component()).toBeDefined();
    }
  });

  it('is asked of the one who waits when the code is there, not before', async () => {
    const { of, tries } = held();
    let waits = true;
    const answer = answerOf(of, () => waits);
    waits = false;
    tries[0]?.come();
    expect(await answer).toBe('left');
  });

  it('says that the code did not come, and tries anew', async () => {
    const { of, tries } = held();
    const first = answerOf(of, () => true);
    tries[0]?.fail();
    expect(await first).toBe('missing');
    const second = answerOf(of, () => true);
    tries[1]?.come();
    expect(await second).toBe('there');
  });
});

describe('in the place of what is not there yet', () => {
  const shown = (stand: 'coming' | 'missing', fills: boolean, children: React.ReactNode) =>
    renderToStaticMarkup(
      <NotYet stand={stand} fills={fills} again={() => undefined}>
        {children}
      </NotYet>,
    );

  it('what failed is said, with a way to try again, wherever it would have stood', () => {
    for (const fills of [true, false])
      for (const children of [<i key="x">skeleton</i>, null]) {
        const html = shown('missing', fills, children);
        expect(html).toContain('could not be loaded');
        expect(html).toContain('Try again');
        // A skeleton would promise that something comes; a field keeps what was typed into it.
        expect(html.includes('skeleton')).toBe(!fills && children !== null);
      }
  });

  it('something says that it comes', () => {
    expect(shown('coming', true, <i>skeleton</i>)).toBe('<i>skeleton</i>');
    expect(shown('coming', false, <i>field</i>)).toBe('<i>field</i>');
    expect(shown('coming', false, null)).toContain('Loading');
  });
});
