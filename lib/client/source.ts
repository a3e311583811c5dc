/** What a stream of messages is listened to by: as much of an `EventSource` as is used. */
export type Messages = Pick<
  EventSource,
  'onopen' | 'onerror' | 'onmessage' | 'readyState' | 'addEventListener' | 'close'
>;

/**
 * Where the pages read runs from: everything that they show comes by these two, in the terms of `/api/v1`. The console's
 * own API unless another one is put in its place, such as a run that is embedded in the page as a file.
 */
export interface Source {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly listen: (url: string) => Messages;
  /** It holds one run and nothing around it: no list, no workers. */
  readonly single?: true;
}

const overHttp: Source = {
  fetch: (url, init) => fetch(url, init),
  listen: (url) => new EventSource(url),
};

let current = overHttp;

export const source = (): Source => current;

/** Before the first page is drawn; undefined is the console's API again. */
export function readFrom(other: Source | undefined): void {
  current = other ?? overHttp;
}
