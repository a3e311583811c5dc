import type { Span } from './span';

/*
 * What a span stands for, by its attributes first and its name last. The conventions that are known: OpenTelemetry
 * GenAI old and new, Vercel AI SDK, OpenInference, OpenLLMetry (Traceloop), Google ADK.
 */

export type SpanRole =
  /** One call of a model. */
  | 'llm'
  | 'tool'
  /** Retrieval, embeddings and reranking: they ask and change nothing. */
  | 'retrieval'
  /** An agent's work, or a call that runs a loop of its own. */
  | 'agent'
  /** A named unit of work: workflow, chain, task, a span of the application's own. */
  | 'unit'
  /** Only holds others together: a numbered turn, a hop over HTTP. Its own children stand where it stands. */
  | 'hull';

/** `gen_ai.operation.name`. */
const operations: Readonly<Record<string, SpanRole>> = {
  chat: 'llm',
  text_completion: 'llm',
  generate_content: 'llm',
  embeddings: 'retrieval',
  retrieval: 'retrieval',
  rerank: 'retrieval',
  execute_tool: 'tool',
  invoke_agent: 'agent',
  create_agent: 'unit',
  invoke_workflow: 'unit',
  agent_step: 'hull',
};
/** `openinference.span.kind`, `traceloop.span.kind`. */
const dialects: Readonly<Record<string, SpanRole>> = {
  llm: 'llm',
  tool: 'tool',
  retriever: 'retrieval',
  embedding: 'retrieval',
  reranker: 'retrieval',
  agent: 'agent',
  chain: 'unit',
  workflow: 'unit',
  task: 'unit',
  guardrail: 'unit',
  evaluator: 'unit',
};

const TURN = /^(step|turn|iteration|loop|super-?step)[ _#:.-]*\d+$/i;
const HOP = /^(http|url|rpc|messaging|net|asgi)\./;

export function roleOf(span: Span): SpanRole {
  const { attributes, name } = span;
  const text = (key: string): string => {
    const value = attributes.get(key);
    return typeof value === 'string' ? value : '';
  };
  const own = <Value>(table: Readonly<Record<string, Value>>, key: string) =>
    Object.hasOwn(table, key) ? table[key] : undefined;
  const sdk = text('ai.operationId');
  if (sdk !== '') return roleInAiSdk(sdk);
  const known =
    own(operations, text('gen_ai.operation.name')) ??
    own(dialects, (text('openinference.span.kind') || text('traceloop.span.kind')).toLowerCase());
  if (known !== undefined) return known;
  // Older writers name no operation.
  if (attributes.has('gen_ai.tool.name') || attributes.has('gen_ai.tool.call.id')) return 'tool';
  if (asksModel(span)) return /embed/i.test(name) ? 'retrieval' : 'llm';
  if (attributes.has('gen_ai.agent.name') && /\bagent\b/i.test(name)) return 'agent';
  if (TURN.test(name)) return 'hull';
  for (const key of attributes.keys()) if (HOP.test(key)) return 'hull';
  return 'unit';
}

const asksModel = ({ attributes }: Span): boolean =>
  attributes.has('gen_ai.request.model') ||
  attributes.has('gen_ai.response.model') ||
  attributes.has('llm.request.type') ||
  attributes.has('llm.model_name');

/** `ai.generateText` runs a loop, `ai.generateText.doGenerate` is one call in it. */
function roleInAiSdk(operation: string): SpanRole {
  if (/^ai\.toolCall\b/.test(operation)) return 'tool';
  if (/\.(doEmbed|doRerank)$/.test(operation)) return 'retrieval';
  if (/\.(doGenerate|doStream)$/.test(operation)) return 'llm';
  return /^ai\.(embed|embedMany|rerank)$/.test(operation) ? 'hull' : 'agent';
}

/** Whether anything about it belongs to agents and models; the rest of a trace is what they stood in. */
export const isStep = (role: SpanRole): boolean => role === 'llm' || role === 'tool' || role === 'retrieval';
