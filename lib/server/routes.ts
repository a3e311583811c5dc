import * as apiV1Audit from '@/app/api/v1/audit/route';
import * as apiV1Events from '@/app/api/v1/events/route';
import * as apiV1LeasesLeaseIdHeartbeat from '@/app/api/v1/leases/[leaseId]/heartbeat/route';
import * as apiV1LeasesLeaseIdRelease from '@/app/api/v1/leases/[leaseId]/release/route';
import * as apiV1MachinesDigest from '@/app/api/v1/machines/[digest]/route';
import * as apiV1PayloadsSha256 from '@/app/api/v1/payloads/[sha256]/route';
import * as apiV1RunsRunIdBuckets from '@/app/api/v1/runs/[runId]/buckets/route';
import * as apiV1RunsRunIdCheckpoints from '@/app/api/v1/runs/[runId]/checkpoints/route';
import * as apiV1RunsRunIdCommands from '@/app/api/v1/runs/[runId]/commands/route';
import * as apiV1RunsRunIdDiff from '@/app/api/v1/runs/[runId]/diff/route';
import * as apiV1RunsRunIdEffects from '@/app/api/v1/runs/[runId]/effects/route';
import * as apiV1RunsRunIdEvents from '@/app/api/v1/runs/[runId]/events/route';
import * as apiV1RunsRunIdEvidence from '@/app/api/v1/runs/[runId]/evidence/route';
import * as apiV1RunsRunIdExport from '@/app/api/v1/runs/[runId]/export/route';
import * as apiV1RunsRunIdExportSizes from '@/app/api/v1/runs/[runId]/export/sizes/route';
import * as apiV1RunsRunIdGraph from '@/app/api/v1/runs/[runId]/graph/route';
import * as apiV1RunsRunIdMessages from '@/app/api/v1/runs/[runId]/messages/route';
import * as apiV1RunsRunIdPlan from '@/app/api/v1/runs/[runId]/plan/route';
import * as apiV1RunsRunIdQuestions from '@/app/api/v1/runs/[runId]/questions/route';
import * as apiV1RunsRunId from '@/app/api/v1/runs/[runId]/route';
import * as apiV1RunsRunIdShares from '@/app/api/v1/runs/[runId]/shares/route';
import * as apiV1RunsRunIdState from '@/app/api/v1/runs/[runId]/state/route';
import * as apiV1RunsRunIdStepsKey from '@/app/api/v1/runs/[runId]/steps/[key]/route';
import * as apiV1RunsRunIdSteps from '@/app/api/v1/runs/[runId]/steps/route';
import * as apiV1Runs from '@/app/api/v1/runs/route';
import * as apiV1Session from '@/app/api/v1/session/route';
import * as apiV1SharedSecretPath from '@/app/api/v1/shared/[secret]/[...path]/route';
import * as apiV1SharedSecret from '@/app/api/v1/shared/[secret]/route';
import * as apiV1SharesShareId from '@/app/api/v1/shares/[shareId]/route';
import * as apiV1Stream from '@/app/api/v1/stream/route';
import * as apiV1Traces from '@/app/api/v1/traces/route';
import * as apiV1WorkersClaim from '@/app/api/v1/workers/claim/route';
import * as apiV1Workers from '@/app/api/v1/workers/route';
import * as v1Traces from '@/app/v1/traces/route';
import { openapiEndpoint } from './openapi/openapi-endpoint';
import type { RouteTable } from './router';

/** Every route file, for answering API requests without Next's router. A test compares it with the files. */
export const routes: RouteTable = [
  ['/api/v1/audit', apiV1Audit],
  ['/api/v1/events', apiV1Events],
  ['/api/v1/leases/[leaseId]/heartbeat', apiV1LeasesLeaseIdHeartbeat],
  ['/api/v1/leases/[leaseId]/release', apiV1LeasesLeaseIdRelease],
  ['/api/v1/machines/[digest]', apiV1MachinesDigest],
  ['/api/v1/openapi.json', { GET: openapiEndpoint(() => routes) }],
  ['/api/v1/payloads/[sha256]', apiV1PayloadsSha256],
  ['/api/v1/runs', apiV1Runs],
  ['/api/v1/runs/[runId]', apiV1RunsRunId],
  ['/api/v1/runs/[runId]/buckets', apiV1RunsRunIdBuckets],
  ['/api/v1/runs/[runId]/checkpoints', apiV1RunsRunIdCheckpoints],
  ['/api/v1/runs/[runId]/commands', apiV1RunsRunIdCommands],
  ['/api/v1/runs/[runId]/diff', apiV1RunsRunIdDiff],
  ['/api/v1/runs/[runId]/effects', apiV1RunsRunIdEffects],
  ['/api/v1/runs/[runId]/events', apiV1RunsRunIdEvents],
  ['/api/v1/runs/[runId]/evidence', apiV1RunsRunIdEvidence],
  ['/api/v1/runs/[runId]/export', apiV1RunsRunIdExport],
  ['/api/v1/runs/[runId]/export/sizes', apiV1RunsRunIdExportSizes],
  ['/api/v1/runs/[runId]/graph', apiV1RunsRunIdGraph],
  ['/api/v1/runs/[runId]/messages', apiV1RunsRunIdMessages],
  ['/api/v1/runs/[runId]/plan', apiV1RunsRunIdPlan],
  ['/api/v1/runs/[runId]/questions', apiV1RunsRunIdQuestions],
  ['/api/v1/runs/[runId]/shares', apiV1RunsRunIdShares],
  ['/api/v1/runs/[runId]/state', apiV1RunsRunIdState],
  ['/api/v1/runs/[runId]/steps', apiV1RunsRunIdSteps],
  ['/api/v1/runs/[runId]/steps/[key]', apiV1RunsRunIdStepsKey],
  ['/api/v1/session', apiV1Session],
  ['/api/v1/shared/[secret]', apiV1SharedSecret],
  ['/api/v1/shared/[secret]/[...path]', apiV1SharedSecretPath],
  ['/api/v1/shares/[shareId]', apiV1SharesShareId],
  ['/api/v1/stream', apiV1Stream],
  ['/api/v1/traces', apiV1Traces],
  ['/api/v1/workers', apiV1Workers],
  ['/api/v1/workers/claim', apiV1WorkersClaim],
  ['/v1/traces', v1Traces],
];
