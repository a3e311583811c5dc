import Database from 'better-sqlite3';

/*
 * Loaded before the console: counts the write statements of every SQLite connection of this process (BEGIN and COMMIT
 * among them) and, once armed, sends SIGKILL to itself before or after the n-th. Synchronous calls, so nothing of the
 * console's runs in between.
 */

interface Arm {
  readonly kind: 'arm';
  readonly statement: number;
  readonly when: 'before' | 'after';
}

let armed: Arm | undefined;
let seen = 0;

function around<Value>(work: () => Value): Value {
  if (armed === undefined) return work();
  seen += 1;
  const mine = seen === armed.statement;
  if (mine && armed.when === 'before') process.kill(process.pid, 'SIGKILL');
  const value = work();
  if (mine) process.kill(process.pid, 'SIGKILL');
  return value;
}

type Method = (this: unknown, ...args: unknown[]) => unknown;

/** Replaces a method of a prototype; `counts` says whether the call is a write. */
function watch(prototype: object, name: string, counts: (self: unknown) => boolean): void {
  const original: Method = Reflect.get(prototype, name);
  Reflect.set(prototype, name, function (this: unknown, ...args: unknown[]) {
    return counts(this) ? around(() => original.apply(this, args)) : original.apply(this, args);
  });
}

const probe = new Database(':memory:');
const statement: object = Object.getPrototypeOf(probe.prepare('SELECT 1'));
for (const name of ['run', 'get', 'all', 'iterate'])
  watch(statement, name, (self) => !(self as Database.Statement).readonly);
watch(Database.prototype, 'exec', () => true);
probe.close();

process.on('message', (message: Arm) => {
  if (message.kind !== 'arm') return;
  armed = message;
  seen = 0;
  process.send?.({ armed: message.statement });
});
// Ends with the test that started it, whatever became of it.
process.on('disconnect', () => process.exit(0));
