import Database from 'better-sqlite3';
import type { KillAt } from './console-process';

/*
 * Loaded before the console: counts the write statements of every SQLite connection of this process (BEGIN and COMMIT
 * among them) and, once armed, sends SIGKILL to itself before or after the n-th; where an order is named, the n-th that
 * begins with a text, from the first one on that writes something of the order. Synchronous calls, so nothing of the
 * console's runs in between.
 */

type Arm = KillAt & { readonly kind: 'arm' };

let armed: Arm | undefined;
let seen = 0;
let isNamed = false;

function around<Value>(text: string, args: readonly unknown[], work: () => Value): Value {
  if (armed === undefined || !counts(armed, text, args)) return work();
  seen += 1;
  const mine = seen === armed.statement;
  if (mine && armed.when === 'before') process.kill(process.pid, 'SIGKILL');
  const value = work();
  if (mine) process.kill(process.pid, 'SIGKILL');
  return value;
}

function counts({ of }: Arm, text: string, args: readonly unknown[]): boolean {
  if (of === undefined) return true;
  isNamed ||= args.flat().some((arg) => typeof arg === 'string' && arg.includes(of.order));
  return isNamed && text.startsWith(of.text);
}

type Method = (this: unknown, ...args: unknown[]) => unknown;

/** Replaces a method of a prototype; `written` gives the text of a write statement, and nothing for what only reads. */
function watch(
  prototype: object,
  name: string,
  written: (self: unknown, args: readonly unknown[]) => string | undefined,
): void {
  const original: Method = Reflect.get(prototype, name);
  Reflect.set(prototype, name, function (this: unknown, ...args: unknown[]) {
    const text = written(this, args);
    const work = () => original.apply(this, args);
    return text === undefined ? work() : around(text, args, work);
  });
}

/** SQLite calls a COMMIT read-only. */
function writtenBy(self: unknown): string | undefined {
  const { readonly, source } = self as Database.Statement;
  return readonly && source !== 'COMMIT' ? undefined : source;
}

const probe = new Database(':memory:');
const statement: object = Object.getPrototypeOf(probe.prepare('SELECT 1'));
for (const name of ['run', 'get', 'all', 'iterate']) watch(statement, name, writtenBy);
watch(Database.prototype, 'exec', (_self, [text]) => String(text));
probe.close();

process.on('message', (message: Arm) => {
  if (message.kind !== 'arm') return;
  armed = message;
  seen = 0;
  isNamed = false;
  process.send?.({ armed: message.statement });
});
// Ends with the test that started it, whatever became of it.
process.on('disconnect', () => process.exit(0));
