const start = (): Worker => new Worker(new URL('./elk.worker.ts', import.meta.url), { type: 'module' });

let ahead: Worker | undefined;

/** Has the layout program read and compiled, beside what the page's own thread does, before anything asks for it. */
export function startElkAhead(): void {
  ahead ??= start();
  ahead.addEventListener('error', (event) => {
    event.preventDefault();
    // Whoever asks for it starts another one, and hears of its error.
    ahead = undefined;
  });
}

/** The layout program in a worker; a copy of a run has another one, which brings it along. */
export function startElk(): Worker {
  const worker = ahead ?? start();
  ahead = undefined;
  return worker;
}

/** Whether the program can be had before there is anything to lay out. */
export const isElkAtHand = true;
