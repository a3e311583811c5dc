import { endpoint } from '@/lib/server/endpoint';
import type { Command } from '@/lib/usecases/command';
import { giveCommand } from '@/lib/usecases/give-command';
import { type CommandBody, commandAnswer, commandBody } from '@/lib/wire/v1/commands';
import { runParams } from '@/lib/wire/v1/queries';

export const POST = endpoint({
  doc: {
    id: 'giveCommand',
    tag: 'Orders',
    summary: 'Give an order',
    description:
      '`resume`, `rewind`, `fork` and `replay` carry the digest of the plan that they were shown; a plan that has changed since is refused with the new one. `verify` asks downstream what became of a call, `decide` says it, `answer` answers a question, `pause` and `cancel` stop the run.',
    body: { example: { commandId: 'order-1', reason: 'asked by the customer', mode: 'pause' } },
    answers: { 202: { says: 'It is accepted; the journal tells how it goes on.', json: commandAnswer } },
  },
  params: runParams,
  body: commandBody,
  run: (deps, { params, body }) => giveCommand(deps, { runId: params.runId, command: commandOf(body) }),
  status: {
    ok: 202,
    'not-found': 404,
    mirror: 409,
    held: 409,
    'stale-plan': 409,
    'already-answered': 409,
    'command-differs': 409,
    'question-changed': 409,
    'intent-changed': 409,
    'not-in-doubt': 409,
    'several-runs': 422,
    'not-possible': 409,
    blocked: 422,
    'use-rewind': 422,
    'no-such-point': 422,
    'replay-from-start': 422,
    'edit-refused': 422,
    'bad-decision': 422,
    'unsupported-option': 422,
  },
});

function commandOf(body: CommandBody): Command {
  switch (body.mode) {
    case 'resume':
    case 'rewind':
    case 'fork':
    case 'replay':
      return {
        ...body,
        edits: body.edits ?? [],
        decisions: body.decisions ?? {},
        options: body.options ?? {},
      };
    default:
      return body;
  }
}
