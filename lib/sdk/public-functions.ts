import type { Agent, AgentOptions, Tool, ToolOptions, Worker, WorkerOptions } from './api';
import { defineAgent as define } from './define-agent';
import { tool as declare } from './tool';
import { startWorker as start } from './worker';

/**
 * Declares an agent. Throws one error that names everything wrong with the declaration: transitions to states that do
 * not exist, tools that are not declared, states that lead nowhere, names that cannot be addressed.
 */
export const defineAgent: (options: AgentOptions) => Agent = define;

/** Declares a tool. Throws where the declaration contradicts itself. */
export const tool: <Args, Result>(options: ToolOptions<Args, Result>) => Tool = declare;

/**
 * Starts a worker: loads the agents' modules, tells the console, and takes runs from then on. Resolves once the
 * console has heard of it; while it cannot be reached, this waits.
 */
export const startWorker: (options: WorkerOptions) => Promise<Worker> = start;
