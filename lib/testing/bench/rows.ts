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

interface Row {
  readonly prefix: string;
  readonly measure: (folder: string) => Promise<readonly Figure[]>;
}

/** What is measured, by the prefix of its figures' names. */
export const rows: readonly Row[] = [
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

/** What `--only page` measures: all that makes a page slow or quick. */
const OF_PAGES = ['page.', 'list.100k-runs.', 'graph.'];

const prefixesOf = (only: string): readonly string[] => (only === 'page' ? OF_PAGES : [only]);

/** The rows that measure something that `only` names; all of them where it is empty. */
export const chosenBy = (only: string): readonly Row[] =>
  rows.filter(({ prefix }) =>
    prefixesOf(only).some((asked) => prefix.startsWith(asked) || asked.startsWith(`${prefix}.`)),
  );

export const isNamed = ({ name }: Figure, only: string): boolean =>
  prefixesOf(only).some((asked) => name.startsWith(asked));
