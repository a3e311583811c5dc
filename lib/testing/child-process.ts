import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A Node process whose lines of output a test waits for. */
export interface Child {
  readonly process: ChildProcess;
  /** Every line so far. */
  readonly lines: readonly string[];
  /** Resolves with the first line that fits, one that was there already included; rejects when the process ends without it. */
  line(fits: (line: string) => boolean): Promise<string>;
  say(line: string): void;
  /** Resolves when it has ended and all its output was read. */
  ended(): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  readonly errors: () => string;
}

export function startChild(program: string, args: readonly string[]): Child {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const check of [...waiting]) check();
  };
  let errors = '';
  let over = false;
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    wake();
  });
  const closed = once(child, 'close').then(([code, signal]) => {
    over = true;
    wake();
    return { code: code as number | null, signal: signal as NodeJS.Signals | null };
  });
  return {
    process: child,
    lines,
    line: (fits) =>
      new Promise((resolve, reject) => {
        const check = () => {
          const found = lines.find(fits);
          if (found === undefined && !over) return;
          waiting.delete(check);
          if (found !== undefined) resolve(found);
          else reject(new Error(`the process ended first: ${errors}`));
        };
        waiting.add(check);
        check();
      }),
    say: (line) => child.stdin.write(`${line}\n`),
    ended: () => closed,
    errors: () => errors,
  };
}
