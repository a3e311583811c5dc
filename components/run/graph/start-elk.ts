/** The layout program in a worker; a copy of a run has another one, which brings it along. */
export const startElk = (): Worker =>
  new Worker(new URL('./elk.worker.ts', import.meta.url), { type: 'module' });

/** Whether the program can be had before there is anything to lay out. */
export const isElkAtHand = true;
