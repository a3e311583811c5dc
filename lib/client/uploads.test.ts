import { describe, expect, it } from 'vitest';
import { type SendFile, type UploadState, Uploads } from './uploads';

type Answer = Awaited<ReturnType<SendFile>>;
const done: Answer = { kind: 'done', created: true, report: { runs: [], warnings: [] } };

/** Uploads whose sending is answered by hand. */
function opened() {
  const sent: {
    readonly name: string;
    readonly bytes: (n: number) => void;
    readonly answer: (with_: Answer) => Promise<void>;
  }[] = [];
  const uploads = new Uploads((file, bytes, signal) => {
    let resolve: (answer: Answer) => void = () => undefined;
    const promise = new Promise<Answer>((settle) => {
      resolve = settle;
    });
    signal.addEventListener('abort', () => resolve({ kind: 'stopped' }));
    sent.push({
      name: file.name,
      bytes,
      answer: async (answer) => {
        resolve(answer);
        await turn();
      },
    });
    return promise;
  });
  return { uploads, sent };
}
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const file = (name: string, text = 'content') => new File([text], name);
const kinds = (uploads: Uploads) => uploads.snapshot().map(({ state }) => state.kind);
const MOST = 100;

describe('the queue of uploads', () => {
  it('sends one file after the other, in the order that they were given in, across what is given later', async () => {
    const { uploads, sent } = opened();
    uploads.add([file('a'), file('b')], MOST);
    uploads.add([file('c')], MOST);
    expect(kinds(uploads)).toEqual(['sends', 'waits', 'waits']);
    await sent[0]?.answer(done);
    expect(kinds(uploads)).toEqual(['done', 'sends', 'waits']);
    await sent[1]?.answer({ kind: 'refused', problem: {} as never });
    await sent[2]?.answer(done);
    expect(kinds(uploads)).toEqual(['done', 'refused', 'done']);
    expect(sent.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  });

  it('tells bytes while they leave, and that the console reads once all have', async () => {
    const { uploads, sent } = opened();
    const states: UploadState[] = [];
    uploads.subscribe(() => states.push(uploads.snapshot()[0]?.state as UploadState));
    uploads.add([file('a', '0123456789')], MOST);
    sent[0]?.bytes(4);
    sent[0]?.bytes(10);
    await sent[0]?.answer(done);
    expect(states).toEqual([
      { kind: 'waits' },
      { kind: 'sends', sent: 0 },
      { kind: 'sends', sent: 4 },
      { kind: 'reads' },
      done,
    ]);
  });

  it('stops the one on its way and goes on with the next; of one that had left whole it does not know', async () => {
    const { uploads, sent } = opened();
    uploads.add([file('a'), file('b'), file('c')], MOST);
    uploads.stop(1);
    await turn();
    expect(uploads.snapshot()[0]?.state).toEqual({ kind: 'stopped', unknown: false });
    sent[1]?.bytes(7);
    uploads.stop(2);
    uploads.stop(3);
    await turn();
    expect(uploads.snapshot()[1]?.state).toEqual({ kind: 'stopped', unknown: true });
    expect(sent.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(uploads.snapshot()[2]?.state).toEqual({ kind: 'stopped', unknown: false });
  });

  it('sends one again that is over, and no other', async () => {
    const { uploads, sent } = opened();
    uploads.add([file('a'), file('b')], MOST);
    uploads.again(1);
    uploads.again(2);
    await sent[0]?.answer({ kind: 'refused', problem: {} as never });
    uploads.again(1);
    expect(kinds(uploads)).toEqual(['waits', 'sends']);
    await sent[1]?.answer(done);
    expect(kinds(uploads)).toEqual(['sends', 'done']);
    uploads.clear();
    expect(kinds(uploads)).toEqual(['sends']);
  });

  it('refuses what is too large without sending any of it', () => {
    const { uploads, sent } = opened();
    const over: string[] = [];
    uploads.onOver((upload) => over.push(upload.file.name));
    uploads.add([file('large', 'x'.repeat(101)), file('small', 'x'.repeat(100))], MOST);
    expect(kinds(uploads)).toEqual(['refused', 'sends']);
    expect([sent.map(({ name }) => name), over]).toEqual([['small'], ['large']]);
  });
});
