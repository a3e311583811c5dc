import { deps } from './container';
import { readEnv } from './env';
import { type SnippetName, snippetsOf } from './snippets';

export interface Connect {
  readonly address: string;
  readonly snippets: Readonly<Record<SnippetName, string>>;
  readonly tokens: boolean;
  readonly formats: readonly string[];
}

/** What the page Connect shows to whoever came by this request. */
export async function readConnect(header: (name: string) => string | undefined): Promise<Connect> {
  const { gate, importers } = await deps();
  const address = addressOf(header);
  return {
    address,
    snippets: await snippetsOf(address, readEnv().root),
    tokens: !gate.open,
    formats: importers.map(({ title }) => title),
  };
}

/** Where the browser found the console. The guards let through only hosts that it answers to. */
export function addressOf(header: (name: string) => string | undefined): string {
  const scheme = header('x-forwarded-proto')?.split(',', 1)[0]?.trim() === 'https' ? 'https' : 'http';
  return `${scheme}://${header('host') ?? '127.0.0.1:3000'}`;
}
