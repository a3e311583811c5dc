import { createInterface } from 'node:readline';
import pg from 'pg';

/*
 * The console on PostgreSQL, as a process that kills itself. On standard input `arm <text> <n> <before|sent|after>`:
 * from then on, and from the first row that goes into a journal, it counts statements that begin with the text, and sends SIGKILL to itself before the n-th leaves, when
 * it has left and its answer has not come, or when that came. Standard output: `armed`, and what the console says.
 */

const [url = ''] = process.argv.slice(2);
Object.assign(process.env, {
  DATABASE_URL: url,
  PORT: '0',
  RERAIL_ROOT: process.cwd(),
  RERAIL_LOG: 'fatal',
  RERAIL_NO_PAGES: '1',
});

let armed: { readonly text: string; left: number; readonly when: string } | undefined;
let hasWritten = false;
const die = () => process.kill(process.pid, 'SIGKILL');

type Query = (this: unknown, ...args: unknown[]) => unknown;
const { prototype } = pg.Client;
const query: Query = Reflect.get(prototype, 'query');
Reflect.set(prototype, 'query', function (this: unknown, ...args: unknown[]) {
  const text = textOf(args[0]);
  hasWritten ||= armed !== undefined && text.startsWith('INSERT INTO "Event"');
  if (armed === undefined || !hasWritten || !text.startsWith(armed.text) || --armed.left > 0)
    return query.apply(this, args);
  const { when } = armed;
  if (when === 'before') die();
  const answer = query.apply(this, args);
  // The statement was written to the socket in this turn.
  if (when === 'sent') setImmediate(die);
  else Promise.resolve(answer).then(die, die);
  return new Promise(() => undefined);
});

const textOf = (asked: unknown): string =>
  typeof asked === 'string' ? asked : String((asked as { readonly text?: string }).text ?? '');

const lines = createInterface({ input: process.stdin });
// Ends with the test that started it, whatever became of it.
lines.on('close', () => process.exit(0));
lines.on('line', (line) => {
  const [, text = '', n, when = ''] = /^arm (.*) (\d+) (before|sent|after)$/.exec(line) ?? [];
  armed = { text, left: Number(n), when };
  process.stdout.write('armed\n');
});

await import('@/lib/server/main');
