import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it, vi } from 'vitest';
import { ApiFrame } from './api-frame';

vi.mock('next/navigation', () => ({ useRouter: () => ({ push: () => undefined }) }));

const entries = ['list runs', 'read a run', 'share a run'].map((text, n) => ({
  id: `op${n}`,
  method: 'GET',
  path: `/${n}`,
  summary: text,
  tag: 'Runs',
  text,
}));
const said = (search: string) =>
  /role="status"[^>]*>(.*?)<\/span>/
    .exec(
      renderToStaticMarkup(
        <ApiFrame entries={entries} current={undefined} search={search}>
          <p>detail</p>
        </ApiFrame>,
      ),
    )?.[1]
    ?.replace(/<!-- -->/g, '');

it('says how many operations there are, and while one searches how many of them match', () => {
  expect(said('')).toBe('3 operations');
  expect(said(' ')).toBe('3 operations');
  expect(said('run read')).toBe('1 of 3 operations');
  expect(said('nothing')).toBe('0 of 3 operations');
});
