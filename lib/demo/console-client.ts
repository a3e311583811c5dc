/* The little that the supervisor asks the console: whether it is there, and how a run stands. */

const POLL_MS = 100;

const consoleUrl = (): string => process.env['RERAIL_CONSOLE_URL'] ?? 'http://127.0.0.1:3000';

/** As the SDK reads it: the console asks for one where it was started with one. */
function credentials(): Readonly<Record<string, string>> {
  const token = process.env['RERAIL_TOKEN'];
  return token === undefined || token === '' ? {} : { authorization: `Bearer ${token}` };
}

/** The run's status and the state of the machine where it stands. */
export interface Standing {
  readonly status: string;
  readonly state: string | undefined;
}

/** How the run stands, or undefined where there is no such run. */
export async function standingOf(runId: string): Promise<Standing | undefined> {
  const response = await fetch(`${consoleUrl()}/api/v1/runs/${encodeURIComponent(runId)}`, {
    headers: credentials(),
    signal: AbortSignal.timeout(10_000),
  });
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Error(`the console answered ${response.status}: ${await response.text()}`);
  const { status, visit } = (await response.json()) as {
    readonly status: string;
    readonly visit: { readonly state: string } | null;
  };
  return { status, state: visit?.state };
}

/** Asks again until `holds` does; gives up with `what` after `patienceMs`. */
export async function until(what: string, patienceMs: number, holds: () => Promise<boolean>): Promise<void> {
  const giveUpAt = Date.now() + patienceMs;
  while (Date.now() < giveUpAt) {
    if (await holds().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`waited ${patienceMs} ms in vain: ${what}`);
}

export const untilConsole = (): Promise<void> =>
  until(
    'the console answers',
    120_000,
    async () => (await fetch(`${consoleUrl()}/api/v1/workers`, { headers: credentials() })).ok,
  );
