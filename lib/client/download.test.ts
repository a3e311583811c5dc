import { afterEach, expect, it, vi } from 'vitest';
import { download, fileName } from './download';
import { readFrom } from './source';

afterEach(() => readFrom(undefined));

it('names a file so that every system takes it, and so that people know it again', () => {
  expect(fileName('run_01k7', 'rerail.html')).toBe('run_01k7.rerail.html');
  expect(fileName('../../etc/passwd', 'x')).toBe('etc_passwd.x');
  expect(fileName('a b/c\\d:e*f?"<>|\u0000\n', 'x')).toBe('a_b_c_d_e_f_.x');
  expect(fileName('Überweisung № 7', 'x')).toBe('Überweisung_7.x');
  expect(fileName('///', 'x')).toBe('run.x');
  expect(fileName('a'.repeat(128), 'x')).toHaveLength(102);
});

const answering = (answer: () => Promise<Response>) =>
  readFrom({ fetch: answer, listen: () => Promise.reject(new Error('unused')) as never });
const never = new AbortController().signal;

it('tells of the bytes as they come, and gives all of them', async () => {
  answering(async () => new Response(new Blob(['one', 'two', 'three']).stream()));
  const told = vi.fn();
  const file = await download('/x', told, never);
  expect(file.ok && (await file.value.text())).toBe('onetwothree');
  expect(told).toHaveBeenLastCalledWith(11);
});

it('gives a refusal as it was worded, and no file for a body that breaks off', async () => {
  answering(async () =>
    Response.json({ type: 'urn:rerail:problem:not-found', detail: 'Gone.' }, { status: 404 }),
  );
  expect(await download('/x', () => undefined, never)).toMatchObject({
    ok: false,
    problem: { kind: 'not-found', detail: 'Gone.' },
  });
  answering(async () => {
    let pulls = 0;
    return new Response(
      new ReadableStream({
        pull(controller) {
          pulls += 1;
          if (pulls === 1) controller.enqueue(new Uint8Array(3));
          else controller.error(new Error('cut'));
        },
      }),
    );
  });
  expect(await download('/x', () => undefined, never)).toMatchObject({
    ok: false,
    problem: { kind: 'unreachable', detail: 'The file broke off (cut).' },
  });
});
