import type { z } from 'zod';
import { auditPage, auditRow } from './audit';
import { commandAnswer, commandBody, decisionBody, planBody } from './commands';
import {
  inlinePayload,
  instant,
  json,
  payloadRef,
  problem,
  wireMachineDigest,
  wireRunId,
  wireSeq,
  wireSha256,
  wireStepKey,
} from './common';
import { decision, edit, eventKind, newEvent, planOptions, runEvent } from './events';
import { exportSizesAnswer, uploadAnswer } from './export';
import * as runs from './runs';
import { sessionAnswer, signInBody } from './session';
import { shareBody, sharedAnswer, shareMade, shareRow, sharesAnswer } from './shares';
import * as worker from './worker';

/** A schema's name in the API's document, and what it is for people. */
export interface SchemaName {
  readonly id: string;
  readonly description?: string;
}

/** Every schema that the document names. A name is part of the contract: programs are generated from it. */
export const schemaNames: ReadonlyMap<z.ZodType, SchemaName> = new Map<z.ZodType, SchemaName>([
  [wireRunId, { id: 'RunId', description: 'Any text but "." and "..", well-formed and without U+0000.' }],
  [
    wireStepKey,
    {
      id: 'StepKey',
      description:
        'A step’s stable address: scope path, name and occurrence, such as `lookup#2/search_orders#1`. Percent-encoded in a path.',
    },
  ],
  [wireSha256, { id: 'Sha256', description: 'SHA-256 in lower-case hexadecimal digits.' }],
  [
    wireMachineDigest,
    { id: 'MachineDigest', description: 'SHA-256 of canonical JSON of what the machine declares.' },
  ],
  [
    wireSeq,
    { id: 'Seq', description: 'Position in a run’s journal: 1, 2, 3 … without gaps; 0 is before the first.' },
  ],
  [instant, { id: 'Instant', description: 'ISO 8601 with zone.' }],
  [json, { id: 'Json', description: 'Any JSON.' }],
  [
    payloadRef,
    {
      id: 'PayloadRef',
      description: 'A value by its content: GET /api/v1/payloads/{sha256} gives it. `bytes` is its size.',
    },
  ],
  [
    inlinePayload,
    {
      id: 'InlinePayload',
      description: 'A small payload beside the events that refer to it: `text`, or base64 for codec `bytes`.',
    },
  ],
  [
    problem,
    { id: 'Problem', description: 'RFC 9457 problem details; `type` is `urn:rerail:problem:` and the kind.' },
  ],
  [edit, { id: 'Edit', description: 'A value in place of the recorded one, by JSON Pointer.' }],
  [decision, { id: 'Decision', description: 'What became of an effect, or what a plan shall do about one.' }],
  [
    decisionBody,
    { id: 'DecisionRequest', description: 'A decision as a person sends it: its result is inline.' },
  ],
  [planOptions, { id: 'PlanOptions' }],
  [eventKind, { id: 'EventKind' }],
  [
    newEvent,
    {
      id: 'NewEvent',
      description:
        'An event as a writer sends it. `at` is epoch milliseconds; absent, the console’s clock says it.',
    },
  ],
  [runEvent, { id: 'Event', description: 'An event as the journal has it. `at` is epoch milliseconds.' }],
  [planBody, { id: 'PlanRequest' }],
  [
    commandBody,
    { id: 'Command', description: 'An order. The same `commandId` again gives the first answer.' },
  ],
  [commandAnswer, { id: 'CommandAnswer', description: '`runId` is the new run’s for fork and replay.' }],
  [uploadAnswer, { id: 'Upload', description: 'What was read. `added` counts events that are new.' }],
  [runs.runStatus, { id: 'RunStatus' }],
  [runs.phase, { id: 'Phase', description: 'What the run is doing: the most pressing of its scopes.' }],
  [runs.action, { id: 'Action', description: 'Whether it can be done now; where not, why.' }],
  [runs.question, { id: 'Question' }],
  [runs.questionPage, { id: 'QuestionPage' }],
  [runs.runSummary, { id: 'Run' }],
  [runs.runPage, { id: 'RunPage' }],
  [runs.stepRow, { id: 'Step', description: 'One recorded call inside a visit. Values are references.' }],
  [runs.stepPage, { id: 'StepPage' }],
  [runs.stepDetail, { id: 'StepDetail', description: 'A step with its attempts, oldest first.' }],
  [runs.checkpointRow, { id: 'Checkpoint', description: 'A named point that a plan may start from.' }],
  [runs.checkpointPage, { id: 'CheckpointPage' }],
  [runs.effectRow, { id: 'Effect', description: 'A row of the effect ledger.' }],
  [runs.effectPage, { id: 'EffectPage' }],
  [runs.messageRow, { id: 'Message' }],
  [runs.messagePage, { id: 'MessagePage' }],
  [runs.stateAt, { id: 'State', description: 'The run as it stood at a seq. Values are references.' }],
  [runs.stateDiff, { id: 'Diff', description: 'What differs between two seqs, by JSON Pointer.' }],
  [runs.graphAt, { id: 'Graph', description: 'The machine with what was visited and taken up to `at`.' }],
  [runs.bucketRow, { id: 'Bucket', description: 'A stretch of the journal, counted.' }],
  [runs.bucketPage, { id: 'BucketPage' }],
  [runs.plannedStep, { id: 'PlannedStep' }],
  [
    runs.planAnswer,
    {
      id: 'Plan',
      description: 'What an order will do. `digest` covers all but reasons, head, times and cost.',
    },
  ],
  [runs.machineState, { id: 'MachineState' }],
  [runs.toolDeclaration, { id: 'Tool' }],
  [runs.llmDeclaration, { id: 'Model' }],
  [
    runs.machine,
    { id: 'Machine', description: 'A declared state machine. Its digest is that of canonical JSON of it.' },
  ],
  [worker.createRunBody, { id: 'CreateRun' }],
  [worker.createRunAnswer, { id: 'CreatedRun', description: 'The run, held by the worker that asked.' }],
  [
    worker.batch,
    {
      id: 'Batch',
      description: 'Of the worker that holds the run, fenced by `epoch`. `batch` counts 1, 2, 3 ….',
    },
  ],
  [
    worker.unleasedBatch,
    {
      id: 'UnleasedBatch',
      description: 'Of a writer without a lease. `expectedSeq` is the head that it knows.',
    },
  ],
  [worker.appendAnswer, { id: 'Appended', description: '`others`: what others wrote after `seenSeq`.' }],
  [worker.appendManyBody, { id: 'AppendMany' }],
  [worker.appendManyAnswer, { id: 'AppendedMany', description: 'One item for each batch, in their order.' }],
  [
    worker.evidenceBody,
    { id: 'Evidence', description: 'A late outcome of a call whose worker was fenced off.' },
  ],
  [worker.claimBody, { id: 'ClaimRequest' }],
  [worker.claimAnswer, { id: 'Claim', description: 'A run to work on, and why.' }],
  [worker.heartbeatBody, { id: 'Heartbeat' }],
  [worker.heartbeatAnswer, { id: 'HeartbeatAnswer' }],
  [worker.releaseBody, { id: 'Release' }],
  [worker.workerRow, { id: 'Worker' }],
  [worker.workerPage, { id: 'WorkerPage' }],
  [worker.eventPage, { id: 'EventPage' }],
  [auditRow, { id: 'AuditEntry' }],
  [auditPage, { id: 'AuditPage' }],
  [signInBody, { id: 'SignIn' }],
  [sessionAnswer, { id: 'Session' }],
  [shareBody, { id: 'ShareRequest' }],
  [shareRow, { id: 'Share' }],
  [shareMade, { id: 'ShareMade' }],
  [sharesAnswer, { id: 'SharePage' }],
  [sharedAnswer, { id: 'SharedRun' }],
  [exportSizesAnswer, { id: 'ExportSizes' }],
]);
