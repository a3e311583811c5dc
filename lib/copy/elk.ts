let program = '';

/** The layout program's text, before the first graph is drawn. */
export function keepElk(text: string): void {
  program = text;
}

/** Stands for `components/run/graph/start-elk`: a worker out of the page itself, since a file has no neighbour to load. */
export const startElk = (): Worker =>
  new Worker(URL.createObjectURL(new Blob([program], { type: 'text/javascript' })));

/** Its text is unpacked after the page's code has run. */
export const isElkAtHand = false;
export const startElkAhead = (): void => undefined;
