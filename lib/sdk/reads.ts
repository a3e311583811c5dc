import type { FailureKind, LlmReply } from './api';
import { NotSent } from './errors';
import { backoffMs, failureOf, type Hub } from './hub';
import { callFields, type Operation, recordedError, replyOf } from './operation';
import { type Secrets, withSecrets } from './secrets';
import { llmLimits } from './tool';
import { read, store } from './values';

/** Carries out calls that ask and change nothing: models, retrieval, `read` tools. They may be asked again. */
export class Reads {
  private readonly hub: Hub;

  constructor(hub: Hub) {
    this.hub = hub;
  }

  attempt(op: Operation): void {
    withSecrets(this.hub, op, op.work.kind === 'tool' ? op.work.tool : undefined, {
      mayBegin: () => this.mayBegin(op),
      begin: (secrets) => this.begin(op, secrets),
    });
  }

  private mayBegin(op: Operation): boolean {
    const { hub } = this;
    if (hub.isStopped() || op.arrived) return false;
    op.running = !op.scope.over && !hub.isHalted();
    if (!op.running) hub.stir();
    return op.running;
  }

  private begin(op: Operation, secrets: Secrets): void {
    const { hub } = this;
    const attempt = ++op.attempt;
    op.tries++;
    const abort = new AbortController();
    op.abort = abort;
    const limits = limitsOf(op);
    hub.push({
      event: { kind: 'step.started', ...callFields(op), attempt, api: op.name, ...modelOf(op) },
      payloads: [op.input],
      urgent: true,
    });
    if (!secrets.ok) {
      hub.fail(op, { ok: false, failure: 'not-sent', error: recordedError(new NotSent(secrets.why)) });
      return;
    }
    let text = '';
    const cancelTimer = hub.clock.after(limits.timeoutMs, () => {
      abort.abort(new DOMException(`no answer within ${limits.timeoutMs} ms`, 'TimeoutError'));
      ended(() => this.broke(op, limits.retries, 'timeout', abort.signal.reason, text));
    });
    let over = false;
    const ended = (fn: () => void) => {
      if (over) return;
      over = true;
      cancelTimer();
      hub.guard(() => {
        if (hub.isStopped()) return;
        if (!op.arrived && !op.scope.over && op.attempt === attempt && op.running) fn();
      });
    };
    const answer = Promise.resolve().then(() =>
      ask(op, {
        attempt,
        runId: hub.runId,
        signal: abort.signal,
        secrets: secrets.values,
        onText: (more) => {
          text += more;
        },
      }),
    );
    answer.then(
      (result) => ended(() => this.answered(op, result)),
      (error: unknown) =>
        ended(() => this.broke(op, limits.retries, failureOf(error, abort.signal), error, text)),
    );
  }

  private answered(op: Operation, result: unknown): void {
    this.hub.apiEnded(op.name, 'completed');
    if (op.work.kind !== 'llm') {
      this.hub.completeWith(op, result, {});
      return;
    }
    if (typeof result !== 'object' || result === null) {
      this.hub.fail(op, {
        ok: false,
        failure: 'error',
        error: recordedError(new TypeError(`${op.name}: complete() gave no reply`)),
      });
      return;
    }
    const reply = replyOf(result as LlmReply);
    this.hub.completeWith(op, reply, usageOf(reply));
  }

  private broke(op: Operation, retries: number, failure: FailureKind, thrown: unknown, text: string): void {
    const { hub } = this;
    const error = recordedError(thrown);
    const partial = text === '' ? undefined : store(text, 'partial text');
    hub.apiEnded(op.name, failure);
    const again =
      op.tries <= retries && (failure === 'timeout' || failure === 'unavailable' || failure === 'not-sent');
    if (!again) {
      hub.fail(op, { ok: false, failure, error }, partial === undefined ? {} : { partial });
      return;
    }
    const nextDelayMs = backoffMs(hub, op.tries);
    op.running = false;
    hub.push({
      event: {
        kind: 'step.failed',
        stepKey: op.key,
        attempt: op.attempt,
        failure,
        error,
        final: false,
        nextDelayMs,
        ...(partial === undefined ? {} : { partial: partial.ref }),
      },
      ...(partial === undefined ? {} : { payloads: [partial] }),
    });
    hub.later(op, nextDelayMs, () => this.attempt(op));
    hub.stir();
  }
}

interface ReadCall {
  readonly attempt: number;
  readonly runId: string;
  readonly signal: AbortSignal;
  readonly secrets: Readonly<Record<string, string>>;
  readonly onText: (text: string) => void;
}

function ask(op: Operation, call: ReadCall): Promise<unknown> {
  const input = read(op.input);
  const { signal, attempt, runId, secrets } = call;
  if (op.work.kind === 'llm') return op.work.llm.client.complete(input, { signal, onText: call.onText });
  if (op.work.kind === 'tool') {
    const about = { signal, attempt, runId, secrets, stepKey: op.key, idempotencyKey: undefined };
    return op.work.tool.run(input, about);
  }
  throw new Error(`Broken invariant: ${op.key} is no read`);
}

function limitsOf(op: Operation): { readonly timeoutMs: number; readonly retries: number } {
  if (op.work.kind === 'llm') return llmLimits(op.work.llm);
  if (op.work.kind === 'tool') return op.work.tool;
  throw new Error(`Broken invariant: ${op.key} is no read`);
}

/** Model and the parameters that a replay would ask with again. */
function modelOf(op: Operation) {
  if (op.work.kind !== 'llm') return {};
  const request = read(op.input);
  const asked: Record<string, unknown> =
    typeof request === 'object' && request !== null ? { ...request } : {};
  const parameters: Record<string, number> = {};
  for (const name of ['temperature', 'seed', 'top_p', 'max_tokens']) {
    const value = asked[name];
    if (typeof value === 'number' && Number.isFinite(value)) parameters[name] = value;
  }
  return { model: op.work.llm.model, ...(Object.keys(parameters).length === 0 ? {} : { parameters }) };
}

function usageOf(reply: LlmReply) {
  const usage: { inputTokens?: number; outputTokens?: number; costMicroUsd?: number } = {};
  for (const name of ['inputTokens', 'outputTokens', 'costMicroUsd'] as const) {
    const value = reply.usage?.[name];
    if (typeof value === 'number' && Number.isFinite(value) && value >= 0) usage[name] = Math.round(value);
  }
  return Object.keys(usage).length === 0 ? {} : { usage };
}
