import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure } from './figures';
import { planRows } from './row-plan';
import { checkpointRows, conversationRows, recordedStepRows, stateRows, uploadRows } from './rows-http';

/** What is measured, by the prefix of its figures' names. */
const rows: readonly {
  readonly prefix: string;
  readonly measure: (folder: string) => Promise<readonly Figure[]>;
}[] = [
  { prefix: 'conversation-200', measure: conversationRows },
  { prefix: 'recorded-step', measure: recordedStepRows },
  { prefix: 'checkpoints-700', measure: checkpointRows },
  { prefix: 'plan-10000-steps', measure: planRows },
  { prefix: 'upload', measure: uploadRows },
  { prefix: 'state-at', measure: stateRows },
];

function onlyFrom(args: readonly string[]): string {
  const at = args.indexOf('--only');
  return at === -1 ? '' : (args[at + 1] ?? '');
}

const only = onlyFrom(process.argv.slice(2));
const chosen = rows.filter(({ prefix }) => prefix.startsWith(only) || only.startsWith(prefix));
if (chosen.length === 0) {
  process.stderr.write(`Nothing is named ${only}. There is: ${rows.map((row) => row.prefix).join(', ')}\n`);
  process.exit(1);
}
const folder = mkdtempSync(join(tmpdir(), 'rerail-bench-'));
try {
  for (const row of chosen) {
    const figures = await row.measure(folder);
    for (const one of figures) {
      if (one.name.startsWith(only)) process.stdout.write(`${JSON.stringify(one)}\n`);
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
