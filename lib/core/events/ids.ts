import type { Brand } from '../shared/brand';

export type RunId = Brand<string, 'RunId'>;
/** Position in one run's journal: 1, 2, 3 … without gaps. The store assigns it on append; 0 is "before the first". */
export type Seq = Brand<number, 'Seq'>;
/** Wall-clock instant, integer milliseconds since the Unix epoch, UTC. */
export type EpochMs = Brand<number, 'EpochMs'>;
/** Rises with every claim of a run and fences its journal; 0 before the first claim. */
export type Epoch = Brand<number, 'Epoch'>;
/** Stable address of a step: scope path + name + occurrence, see `step-key.ts`. */
export type StepKey = Brand<string, 'StepKey'>;
/** Lower-case hexadecimal SHA-256, 64 characters. */
export type Sha256 = Brand<string, 'Sha256'>;
/** Digest of canonical JSON of what a machine declares, hexadecimal SHA-256. */
export type MachineDigest = Brand<string, 'MachineDigest'>;
export type CommandId = Brand<string, 'CommandId'>;
export type QuestionId = Brand<string, 'QuestionId'>;
export type WorkerId = Brand<string, 'WorkerId'>;
export type LeaseId = Brand<string, 'LeaseId'>;

export const runId = (raw: string) => raw as RunId;
export const seq = (raw: number) => raw as Seq;
export const epochMs = (raw: number) => raw as EpochMs;
export const epoch = (raw: number) => raw as Epoch;
export const stepKey = (raw: string) => raw as StepKey;
export const sha256 = (raw: string) => raw as Sha256;
export const machineDigest = (raw: string) => raw as MachineDigest;
export const commandId = (raw: string) => raw as CommandId;
export const questionId = (raw: string) => raw as QuestionId;
export const workerId = (raw: string) => raw as WorkerId;
export const leaseId = (raw: string) => raw as LeaseId;
