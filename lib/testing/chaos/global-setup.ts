import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { bundleEntries } from './bundle';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Folder of the compiled entries. */
    readonly chaosBundle: string;
  }
}

/** Compiles every child process's code once, so that starting one costs little more than starting Node. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'rerail-chaos-bundle-'));
  await bundleEntries(folder);
  project.provide('chaosBundle', folder);
  return () => rm(folder, { recursive: true, force: true });
}
