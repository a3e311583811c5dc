import { type ApiProblem, toProblem } from './api';

/** What the console tells of a file that it read. */
export interface UploadReport {
  readonly runs: readonly {
    readonly id: string;
    readonly format: string;
    readonly status: string;
    readonly events: number;
    readonly steps: number;
    readonly checkpoints: number;
    /** Events that this upload added. */
    readonly added: number;
  }[];
  readonly warnings: readonly { readonly path: string; readonly message: string }[];
}

export type UploadState =
  | { readonly kind: 'waits' }
  /** Bytes on their way; once all have left, the console reads them. */
  | { readonly kind: 'sends'; readonly sent: number }
  | { readonly kind: 'reads' }
  | { readonly kind: 'done'; readonly report: UploadReport; readonly created: boolean }
  | { readonly kind: 'refused'; readonly problem: ApiProblem }
  /** `unknown`: all of it had left, so it may have been stored. */
  | { readonly kind: 'stopped'; readonly unknown: boolean };

export interface Upload {
  readonly key: number;
  readonly file: File;
  readonly state: UploadState;
}

/** Sends one file; `sent` hears how many bytes have left. Never throws. */
export type SendFile = (
  file: File,
  sent: (bytes: number) => void,
  signal: AbortSignal,
) => Promise<
  | { readonly kind: 'done'; readonly report: UploadReport; readonly created: boolean }
  | { readonly kind: 'refused'; readonly problem: ApiProblem }
  | { readonly kind: 'stopped' }
>;

/** The problem of a file that is larger than the console takes, found before it is sent. */
export const TOO_LARGE = 'body-too-large';

const inTheWay = (kind: string, title: string, detail: string): ApiProblem => ({
  kind,
  title,
  status: 0,
  detail,
  errors: [],
  members: {},
});

/** `fetch` does not tell of bytes that have left. */
export const sendFile: SendFile = (file, sent, signal) =>
  new Promise((resolve) => {
    const request = new XMLHttpRequest();
    const stop = () => request.abort();
    signal.addEventListener('abort', stop, { once: true });
    request.upload.onprogress = ({ loaded }) => sent(loaded);
    request.upload.onload = () => sent(file.size);
    request.onload = () => resolve(answerOf(request.status, request.responseText));
    request.onerror = () =>
      resolve({
        kind: 'refused',
        problem: inTheWay(
          'unreachable',
          'No answer came',
          'The file could not be read, or the console does not answer. Sent again it adds nothing twice.',
        ),
      });
    request.onabort = () => resolve({ kind: 'stopped' });
    request.onloadend = () => signal.removeEventListener('abort', stop);
    request.open('POST', '/api/v1/traces');
    request.setRequestHeader('accept', 'application/json');
    request.setRequestHeader('content-type', file.type === '' ? 'application/octet-stream' : file.type);
    request.send(file);
  });

function answerOf(status: number, body: string): Awaited<ReturnType<SendFile>> {
  if (status !== 200 && status !== 201) return { kind: 'refused', problem: toProblem(status, body) };
  try {
    return { kind: 'done', created: status === 201, report: JSON.parse(body) as UploadReport };
  } catch {
    return { kind: 'refused', problem: toProblem(status, body) };
  }
}

const over = (state: UploadState): boolean =>
  state.kind === 'done' || state.kind === 'refused' || state.kind === 'stopped';

/** Files on their way to the console, one after the other: it reads one at a time. They outlive the page that gave them. */
export class Uploads {
  #all: readonly Upload[] = [];
  #next = 1;
  #now: { readonly key: number; readonly stop: AbortController } | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #hearers = new Set<(upload: Upload) => void>();

  constructor(readonly send: SendFile) {}

  readonly snapshot = (): readonly Upload[] => this.#all;
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  /** Hears of each file whose upload is over, however it ended. */
  readonly onOver = (hearer: (upload: Upload) => void): (() => void) => {
    this.#hearers.add(hearer);
    return () => this.#hearers.delete(hearer);
  };

  add(files: readonly File[], most: number): void {
    for (const file of files) {
      const upload: Upload = { key: this.#next, file, state: { kind: 'waits' } };
      this.#next += 1;
      this.#set([...this.#all, upload]);
      if (file.size > most)
        this.#put(upload.key, {
          kind: 'refused',
          problem: inTheWay(TOO_LARGE, 'Too large', `The console takes files of at most ${most} bytes.`),
        });
    }
    this.#go();
  }

  /** Stops one that is on its way, or takes one that waits out of the queue. */
  stop(key: number): void {
    if (this.#now?.key === key) this.#now.stop.abort();
    else if (this.#stateOf(key)?.kind === 'waits') this.#put(key, { kind: 'stopped', unknown: false });
  }

  again(key: number): void {
    const state = this.#stateOf(key);
    if (state === undefined || !over(state)) return;
    this.#put(key, { kind: 'waits' });
    this.#go();
  }

  /** Forgets those that are over. */
  clear(): void {
    this.#set(this.#all.filter(({ state }) => !over(state)));
  }

  #go(): void {
    const next = this.#now === undefined ? this.#all.find(({ state }) => state.kind === 'waits') : undefined;
    if (next !== undefined) void this.#run(next);
  }

  async #run({ key, file }: Upload): Promise<void> {
    const stop = new AbortController();
    this.#now = { key, stop };
    this.#put(key, { kind: 'sends', sent: 0 });
    let left = false;
    const answer = await this.send(
      file,
      (sent) => {
        left = sent >= file.size;
        this.#put(key, left ? { kind: 'reads' } : { kind: 'sends', sent });
      },
      stop.signal,
    );
    this.#now = undefined;
    this.#put(key, answer.kind === 'stopped' ? { kind: 'stopped', unknown: left } : answer);
    this.#go();
  }

  #stateOf(key: number): UploadState | undefined {
    return this.#all.find((upload) => upload.key === key)?.state;
  }
  #put(key: number, state: UploadState): void {
    this.#set(this.#all.map((upload) => (upload.key === key ? { ...upload, state } : upload)));
    const upload = this.#all.find((one) => one.key === key);
    if (upload !== undefined && over(state)) for (const hear of this.#hearers) hear(upload);
  }
  #set(all: readonly Upload[]): void {
    this.#all = all;
    for (const tell of this.#listeners) tell();
  }
}

export const uploads = new Uploads(sendFile);
