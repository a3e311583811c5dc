import * as machine from '@/app/api/v1/machines/[digest]/route';
import * as payload from '@/app/api/v1/payloads/[sha256]/route';
import * as buckets from '@/app/api/v1/runs/[runId]/buckets/route';
import * as checkpoints from '@/app/api/v1/runs/[runId]/checkpoints/route';
import * as diff from '@/app/api/v1/runs/[runId]/diff/route';
import * as effects from '@/app/api/v1/runs/[runId]/effects/route';
import * as events from '@/app/api/v1/runs/[runId]/events/route';
import * as graph from '@/app/api/v1/runs/[runId]/graph/route';
import * as messages from '@/app/api/v1/runs/[runId]/messages/route';
import * as questions from '@/app/api/v1/runs/[runId]/questions/route';
import * as run from '@/app/api/v1/runs/[runId]/route';
import * as state from '@/app/api/v1/runs/[runId]/state/route';
import * as step from '@/app/api/v1/runs/[runId]/steps/[key]/route';
import * as steps from '@/app/api/v1/runs/[runId]/steps/route';
import type { RouteTable } from './router';

/** The reads of a run's page: what a shared link and a copy in a file answer. Each says of which run by `shared`. */
export const runReads: RouteTable = [
  ['/api/v1/machines/[digest]', { GET: machine.GET }],
  ['/api/v1/payloads/[sha256]', { GET: payload.GET }],
  ['/api/v1/runs/[runId]', { GET: run.GET }],
  ['/api/v1/runs/[runId]/buckets', { GET: buckets.GET }],
  ['/api/v1/runs/[runId]/checkpoints', { GET: checkpoints.GET }],
  ['/api/v1/runs/[runId]/diff', { GET: diff.GET }],
  ['/api/v1/runs/[runId]/effects', { GET: effects.GET }],
  ['/api/v1/runs/[runId]/events', { GET: events.GET }],
  ['/api/v1/runs/[runId]/graph', { GET: graph.GET }],
  ['/api/v1/runs/[runId]/messages', { GET: messages.GET }],
  ['/api/v1/runs/[runId]/questions', { GET: questions.GET }],
  ['/api/v1/runs/[runId]/state', { GET: state.GET }],
  ['/api/v1/runs/[runId]/steps', { GET: steps.GET }],
  ['/api/v1/runs/[runId]/steps/[key]', { GET: step.GET }],
];
