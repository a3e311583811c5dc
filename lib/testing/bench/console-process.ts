import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

const root = process.env['RERAIL_ROOT'] ?? process.cwd();

export interface BenchConsole {
  readonly url: string;
  readonly dbFile: string;
  readonly getJson: <Body>(path: string) => Promise<Body>;
  readonly send: (method: string, path: string, body: string | Uint8Array) => Promise<unknown>;
  readonly stop: () => Promise<void>;
}

/** The console as it ships, in a process of its own, over a SQLite file in `folder`; its pages only where they are asked for. */
export async function startConsole(folder: string, { pages = false } = {}): Promise<BenchConsole> {
  mkdirSync(folder, { recursive: true });
  const dbFile = join(folder, 'rerail.db');
  const child = spawn(process.execPath, ['.rerail/server/main.mjs'], {
    cwd: root,
    env: {
      ...process.env,
      NODE_ENV: 'production',
      PORT: '0',
      RERAIL_NO_PAGES: pages ? '0' : '1',
      RERAIL_LOG: 'warn',
      DATABASE_URL: `file:${dbFile}`,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      const found = /^rerail: (http:\S+)/m.exec(chunk.toString());
      if (found?.[1] !== undefined) resolve(found[1]);
    });
    child.once('exit', (code) => reject(new Error(`the console ended (${code})`)));
  });
  return {
    ...overHttp(url),
    dbFile,
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/** The API of a console that runs. */
export function overHttp(url: string): Pick<BenchConsole, 'url' | 'getJson' | 'send'> {
  const ask = async (method: string, path: string, body?: string | Uint8Array): Promise<Response> => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      ...(body === undefined
        ? {}
        : { body: body as BodyInit, headers: { 'content-type': 'application/json' } }),
    });
    if (!response.ok)
      throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    return response;
  };
  return {
    url,
    getJson: async <Body>(path: string) => (await (await ask('GET', path)).json()) as Body,
    send: async (method, path, body) => {
      const text = await (await ask(method, path, body)).text();
      return text === '' ? undefined : (JSON.parse(text) as unknown);
    },
  };
}
