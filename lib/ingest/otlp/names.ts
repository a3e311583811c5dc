import type { Layout } from './layout';
import type { Span } from './span';
import { compareNodes, type Tree } from './tree';
import { usable } from './values';

/* Whose run it is, and what it is found by. */

const AGENT = [
  'gen_ai.agent.name',
  'agent.name',
  'agent_name',
  'ai.telemetry.functionId',
  'gen_ai.workflow.name',
];
const SESSION = [
  'gen_ai.conversation.id',
  'session.id',
  'ai.telemetry.metadata.sessionId',
  'traceloop.association.properties.session_id',
  'langfuse.session.id',
];
/** Of each kind: a run has at most 64 tags. */
export const MOST_TAGS = 30;
export const MAX_TAG = 200;

export function namesOf(
  tree: Tree,
  layout: Layout,
): { readonly agent: string; readonly tags: readonly string[] } {
  const spans = tree.nodes.toSorted(compareNodes).map(({ span }) => span);
  const outer = layout.outer.map(({ span }) => span);
  const agents = tree.nodes
    .filter(({ role }) => role === 'agent')
    .sort(compareNodes)
    .map(({ span }) => span);
  const services = distinct(spans.map(({ service }) => service));
  const root = tree.roots.find(({ span }) => span.parentId === undefined)?.span;
  const agent =
    firstOf([...outer, ...agents, ...spans], AGENT) ??
    services[0] ??
    (root?.name || undefined) ??
    'unknown agent';
  const sessions = distinct(spans.flatMap((span) => SESSION.map((key) => textIn(span, key))));
  return {
    agent: usable(agent, 'unknown agent'),
    tags: [
      ...services.slice(0, MOST_TAGS).map((name) => tag('service', name)),
      ...sessions.slice(0, MOST_TAGS).map((id) => tag('session', id)),
    ],
  };
}

function firstOf(spans: readonly Span[], keys: readonly string[]): string | undefined {
  for (const key of keys)
    for (const span of spans) {
      const text = textIn(span, key);
      if (text !== undefined) return text;
    }
  return undefined;
}

function textIn({ attributes }: Span, key: string): string | undefined {
  const value = attributes.get(key);
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

const distinct = (texts: readonly (string | undefined)[]): readonly string[] =>
  [...new Set(texts.filter((text) => text !== undefined))].sort();

const tag = (kind: string, text: string): string =>
  `${kind}:${text.replaceAll('\u0000', '').slice(0, MAX_TAG)}`.toWellFormed();
