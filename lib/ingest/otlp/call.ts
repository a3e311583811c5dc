import type { AttemptFailure, RecordedError, Usage } from '@/lib/core/events/run-event';
import type { Json } from '@/lib/core/shared/canonical-json';
import { type FileJson, isList, isObject, textOf } from '@/lib/ingest/json';
import { type ChatMessage, replyMessages, requestMessages } from './messages';
import { jsonIn, type Plain, type Span } from './span';
import { Facts, listIn, usable } from './values';

/* What a span says of the call that it stands for. */

export interface ModelCall {
  readonly kind: 'llm';
  readonly name: string;
  readonly model: string | undefined;
  readonly provider: string | undefined;
  /** What a replay would ask with again. */
  readonly parameters: Json | undefined;
  readonly messages: readonly ChatMessage[];
  /** Tools and whatever else went with the messages. */
  readonly asked: Readonly<Record<string, FileJson>>;
  readonly reply: ChatMessage | undefined;
  /** Finish reasons, ids, every count of tokens, choices beyond the first. */
  readonly rest: Readonly<Record<string, FileJson>>;
  readonly usage: Usage | undefined;
}

/** A call of something that is no model. */
export interface OtherCall {
  readonly kind: 'tool' | 'retrieval' | 'agent' | 'compute';
  readonly name: string;
  readonly input: FileJson | undefined;
  readonly result: FileJson | undefined;
  readonly callId: string | undefined;
  readonly model: string | undefined;
  readonly usage: Usage | undefined;
}

/** What every call tells. */
interface Told {
  readonly failure: { readonly kind: AttemptFailure; readonly error: RecordedError } | undefined;
  /** By span: keys whose content is in the call. */
  readonly shown: ReadonlyMap<string, ReadonlySet<string>>;
}

export type Call = (ModelCall | OtherCall) & Told;

/** `wrappers`: spans that only wrap the call and may know more of it; nearest first. */
export function modelCall(span: Span, wrappers: readonly Span[], maxDepth: number): Call {
  const facts = new Facts([span, ...wrappers], maxDepth);
  const model = facts.text(
    'gen_ai.request.model',
    'ai.model.id',
    'llm.model_name',
    'gen_ai.response.model',
    'ai.response.model',
  );
  const replies = replyMessages(facts);
  const [reply, ...choices] = replies;
  const tools = facts.content('gen_ai.tool.definitions', 'ai.prompt.tools') ?? toolsIn(facts);
  const choice = facts.content('ai.prompt.toolChoice');
  return {
    kind: 'llm',
    name: usable(model ?? span.name, 'model'),
    model: model === undefined ? undefined : usable(model, 'model'),
    provider: nameOf(
      facts.text('gen_ai.provider.name', 'gen_ai.system', 'ai.model.provider', 'llm.provider', 'llm.system'),
    ),
    parameters: parametersOf(facts),
    messages: requestMessages(facts),
    asked: {
      ...(tools === undefined ? {} : { tools: parsedTools(tools, maxDepth) }),
      ...(choice === undefined ? {} : { toolChoice: choice }),
    },
    reply,
    rest: restOf(facts, choices),
    usage: usageOf(facts),
    failure: failureOf(span),
    shown: facts.shown,
  };
}

const nameOf = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : usable(text, 'provider');

function toolsIn(facts: Facts): FileJson | undefined {
  const indexed = facts.indexed('llm.request.functions');
  return indexed.length > 0 ? indexed : undefined;
}

/** The AI SDK writes each tool as a text of its own. */
const parsedTools = (tools: FileJson, maxDepth: number): FileJson =>
  isList(tools) ? tools.map((tool) => (typeof tool === 'string' ? jsonIn(tool, maxDepth) : tool)) : tools;

/** `{}` stands for none. Integers that JSON cannot hold are texts. */
function parametersOf(facts: Facts): Json | undefined {
  const { model: _model, 'choice.count': count, ...asked } = facts.under('gen_ai.request.');
  const invoked = facts.content('llm.invocation_parameters');
  const all = {
    ...facts.under('ai.settings.'),
    ...(isObject(invoked) ? invoked : {}),
    ...asked,
    ...(count === undefined ? {} : { 'choice.count': count }),
  };
  return Object.keys(all).length === 0 ? undefined : asPlainJson(all);
}

const asPlainJson = (value: FileJson): Json =>
  JSON.parse(
    JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'bigint' ? inner.toString() : inner)),
  );

function restOf(facts: Facts, choices: readonly ChatMessage[]): Readonly<Record<string, FileJson>> {
  const finish = facts.content(
    'gen_ai.response.finish_reasons',
    'ai.response.finishReason',
    'llm.finish_reason',
  );
  const id = facts.text('gen_ai.response.id', 'ai.response.id');
  const model = facts.text('gen_ai.response.model', 'ai.response.model');
  const usage = {
    ...facts.under('llm.token_count.'),
    ...facts.under('llm.usage.'),
    ...facts.under('ai.usage.'),
    ...facts.under('gen_ai.usage.'),
  };
  return {
    ...(finish === undefined
      ? {}
      : { finish: isList(finish) && finish.length === 1 ? (finish[0] ?? finish) : finish }),
    ...(id === undefined ? {} : { id }),
    ...(model === undefined ? {} : { model }),
    ...(Object.keys(usage).length === 0 ? {} : { usage }),
    ...(choices.length === 0 ? {} : { choices }),
  };
}

/** Tokens as they are told; what they cost, a trace does not say. */
function usageOf(facts: Facts): Usage | undefined {
  const input = facts.count(
    'gen_ai.usage.input_tokens',
    'ai.usage.inputTokens',
    'gen_ai.usage.prompt_tokens',
    'ai.usage.promptTokens',
    'llm.token_count.prompt',
    'ai.usage.tokens',
  );
  const output = facts.count(
    'gen_ai.usage.output_tokens',
    'ai.usage.outputTokens',
    'gen_ai.usage.completion_tokens',
    'ai.usage.completionTokens',
    'llm.token_count.completion',
  );
  return input === undefined && output === undefined
    ? undefined
    : {
        ...(input === undefined ? {} : { inputTokens: input }),
        ...(output === undefined ? {} : { outputTokens: output }),
      };
}

const INPUTS = ['input.value', 'traceloop.entity.input'] as const;
const OUTPUTS = ['output.value', 'traceloop.entity.output'] as const;

export function toolCall(span: Span, maxDepth: number): OtherCall & Told {
  const facts = new Facts([span], maxDepth);
  return {
    kind: 'tool',
    name: usable(
      facts.text('gen_ai.tool.name', 'ai.toolCall.name', 'tool.name', 'traceloop.entity.name') ??
        span.name.replace(/^execute_tool\s+/, ''),
      'tool',
    ),
    input: facts.content(
      'gen_ai.tool.call.arguments',
      'ai.toolCall.args',
      'ai.toolCall.input',
      'gcp.vertex.agent.tool_call_args',
      'tool_arguments',
      'tool.parameters',
      ...INPUTS,
    ),
    result: facts.content(
      'gen_ai.tool.call.result',
      'ai.toolCall.result',
      'ai.toolCall.output',
      'gcp.vertex.agent.tool_response',
      'tool_response',
      ...OUTPUTS,
    ),
    callId: facts.text('gen_ai.tool.call.id', 'ai.toolCall.id'),
    model: undefined,
    usage: undefined,
    failure: failureOf(span),
    shown: facts.shown,
  };
}

export function retrievalCall(span: Span, maxDepth: number): OtherCall & Told {
  const facts = new Facts([span], maxDepth);
  const model = facts.text(
    'gen_ai.request.model',
    'ai.model.id',
    'embedding.model_name',
    'reranker.model_name',
  );
  const documents = facts.indexed('retrieval.documents');
  return {
    kind: 'retrieval',
    name: usable(facts.text('gen_ai.data_source.id') ?? model ?? span.name, 'retrieval'),
    input: facts.content('gen_ai.retrieval.query.text', 'ai.values', 'ai.value', 'ai.documents', ...INPUTS),
    result:
      facts.content(
        'gen_ai.retrieval.documents',
        'ai.embeddings',
        'ai.embedding',
        'ai.ranking',
        ...OUTPUTS,
      ) ?? (documents.length > 0 ? documents : undefined),
    callId: undefined,
    model: model === undefined ? undefined : usable(model, 'model'),
    usage: usageOf(facts),
    failure: failureOf(span),
    shown: facts.shown,
  };
}

/** An agent or unit as a whole. */
export function wholeCall(span: Span, kind: 'agent' | 'compute', maxDepth: number): OtherCall & Told {
  const facts = new Facts([span], maxDepth);
  const reply = facts.words('ai.response.text', 'ai.response.object');
  return {
    kind,
    name: unitName(span),
    input: facts.content('gen_ai.input.messages', 'ai.prompt', 'ai.prompt.messages', ...INPUTS),
    result: reply ?? facts.content('gen_ai.output.messages', ...OUTPUTS, 'ai.response.toolCalls'),
    callId: undefined,
    model: undefined,
    // What an agent used is the sum of what its calls did: told once, by them.
    usage: undefined,
    failure: failureOf(span),
    shown: facts.shown,
  };
}

/** What people call the unit. */
export function unitName(span: Span): string {
  const { attributes } = span;
  for (const key of [
    'gen_ai.agent.name',
    'agent.name',
    'agent_name',
    'ai.telemetry.functionId',
    'gen_ai.workflow.name',
    'traceloop.entity.name',
    'graph.node.name',
  ]) {
    const value = attributes.get(key);
    if (typeof value === 'string' && value.trim() !== '') return usable(value, 'unit');
  }
  return usable(span.name, 'unit');
}

const EXCEPTION = 'exception';

export function failureOf(span: Span): Told['failure'] {
  const type = words(span.attributes.get('error.type'));
  if (!span.failed && type === undefined) return undefined;
  const thrown = span.events.findLast((event) => event.name === EXCEPTION)?.attributes;
  const message = span.statusMessage || words(thrown?.get('exception.message')) || '';
  const stack = words(thrown?.get('exception.stacktrace'));
  const named = type ?? words(thrown?.get('exception.type')) ?? 'Error';
  return {
    kind: failureKind(named),
    error: { type: named, message, ...(stack === undefined ? {} : { stack }) },
  };
}

const words = (value: Plain | undefined): string | undefined =>
  typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'bigint'
      ? String(value)
      : undefined;

/** Only what the writer named: a guess would be taken for knowledge. */
function failureKind(type: string): AttemptFailure {
  if (/timeout|timed.?out|deadline.?exceeded/i.test(type)) return 'timeout';
  return /^(429|50[0234])$|unavailable|econnrefused|econnreset/i.test(type) ? 'unavailable' : 'error';
}

/** Names of tools that a reply asked for, by call id. */
export function callsIn(
  reply: ChatMessage | undefined,
): readonly { readonly id: string; readonly name: string }[] {
  return listIn(reply?.content).flatMap((part) => {
    if (!isObject(part) || part['type'] !== 'tool-call') return [];
    const id = textOf(part['toolCallId']);
    return id === undefined ? [] : [{ id, name: textOf(part['toolName']) ?? 'a tool' }];
  });
}
