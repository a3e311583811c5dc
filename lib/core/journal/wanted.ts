import type { MachineDigest } from '../events/ids';
import type { RunRecord } from '../projections/records';
import { reasonOf } from './lease';

/** Workers that may find something to do: those that have the agent, with this machine where one is named. */
export interface Wanted {
  readonly agent: string;
  readonly machineDigest?: MachineDigest;
}

/**
 * Whom a run waits for; undefined where nobody could claim it, whatever its lease. Never narrower than `claimFor`,
 * which decides: a store finds its candidates by this.
 */
export function wantedBy(run: RunRecord): Wanted | undefined {
  if (run.home === 'mirror') return undefined;
  // Any machine may have the probe, whatever else the run is queued for.
  return run.state.verifies.length > 0 ? { agent: run.state.agent } : wantedToStart(run);
}

/** Whom a queued run waits for to be started; undefined where it is not queued, or nobody may start it. */
export function wantedToStart(run: RunRecord): Wanted | undefined {
  const { agent, machineDigest, queue, status } = run.state;
  if (run.home === 'mirror' || status !== 'queued' || queue === undefined) return undefined;
  if (reasonOf(run, queue) === undefined) return undefined;
  const ordered = queue.reason === 'command';
  const machine = ordered ? (run.plannedMachine ?? machineDigest) : machineDigest;
  if (ordered && machine === undefined) return undefined;
  return { agent, ...(machine !== undefined && { machineDigest: machine }) };
}

/** The run with the machine that its newest order was planned for. */
export function plannedFor(run: RunRecord, machineDigest: MachineDigest | undefined): RunRecord {
  const { plannedMachine: _before, ...rest } = run;
  return machineDigest === undefined ? rest : { ...rest, plannedMachine: machineDigest };
}
