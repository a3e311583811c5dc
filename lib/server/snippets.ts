import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Files of `docs/connect/`: what the page Connect and `docs/connect.md` show, and a test carries out. */
export const snippetNames = [
  'token.sh',
  'sdk-install.sh',
  'agent.ts',
  'worker.ts',
  'otlp.sh',
  'otlp-token.sh',
  'ai-sdk.ts',
  'agent.py',
  'upload.sh',
] as const;
export type SnippetName = (typeof snippetNames)[number];

/** The address that the files name, being that of a console as it starts by itself. */
const FILED = 'http://127.0.0.1:3000';

/** The snippets for a console at `address`. */
export async function snippetsOf(
  address: string,
  root: string,
): Promise<Readonly<Record<SnippetName, string>>> {
  const texts = await Promise.all(
    snippetNames.map(async (name): Promise<[SnippetName, string]> => {
      const text = await readFile(join(root, 'docs/connect', name), 'utf8');
      return [name, text.replaceAll(FILED, address).trimEnd()];
    }),
  );
  return Object.fromEntries(texts) as Record<SnippetName, string>;
}
