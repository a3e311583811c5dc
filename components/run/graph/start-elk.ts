/** The layout program in a worker; a copy of a run has another one, which brings it along. */
export const startElk = (): Worker =>
  new Worker(new URL('./elk.worker.ts', import.meta.url), { type: 'module' });
