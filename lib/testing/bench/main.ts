import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure } from './figures';
import { planRows } from './row-plan';
import {
  checkpointRows,
  conversationRows,
  llmConversationRows,
  recordedStepRows,
  stateRows,
  uploadRows,
} from './rows-http';
import { graphRows, listRows, pageRows } from './rows-page';

/** What is measured, by the prefix of its figures' names. */
const rows: readonly {
  readonly prefix: string;
  readonly measure: (folder: string) => Promise<readonly Figure[]>;
}[] = [
  { prefix: 'conversation-200', measure: conversationRows },
  { prefix: 'conversation-200-llm', measure: llmConversationRows },
  { prefix: 'recorded-step', measure: recordedStepRows },
  { prefix: 'checkpoints-700', measure: checkpointRows },
  { prefix: 'plan-10000-steps', measure: planRows },
  { prefix: 'upload', measure: uploadRows },
  { prefix: 'state-at', measure: stateRows },
  { prefix: 'list.100k-runs', measure: listRows },
  { prefix: 'page', measure: pageRows },
  { prefix: 'graph', measure: graphRows },
];

/** What `--only` names; everything without it. */
function onlyFrom(args: readonly string[]): string {
  const [option, prefix, ...more] = args;
  if (option === undefined) return '';
  if (option !== '--only' || !prefix || more.length > 0) refuse('Usage: npm run bench [-- --only PREFIX]');
  return prefix;
}

function refuse(why: string): never {
  process.stderr.write(`${why}\n`);
  process.exit(1);
}

const only = onlyFrom(process.argv.slice(2));
const chosen = rows.filter(({ prefix }) => prefix.startsWith(only) || only.startsWith(`${prefix}.`));
if (chosen.length === 0)
  refuse(`Nothing is named ${only}. There is: ${rows.map(({ prefix }) => prefix).join(', ')}`);
const folder = mkdtempSync(join(tmpdir(), 'rerail-bench-'));
const measured: Figure[] = [];
try {
  for (const row of chosen) {
    process.stderr.write(`Measuring ${row.prefix} …\n`);
    const figures = await row.measure(folder);
    measured.push(...figures);
    for (const one of figures) {
      if (one.name.startsWith(only)) process.stdout.write(`${JSON.stringify(one)}\n`);
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (!measured.some(({ name }) => name.startsWith(only)))
  refuse(`Nothing is named ${only}. There is: ${measured.map(({ name }) => name).join(', ')}`);
