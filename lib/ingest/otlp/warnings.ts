import type { ImportWarning } from '@/lib/usecases/ports';
import { callsIn } from './call';
import type { Layout } from './layout';
import type { Node, Tree } from './tree';

/* What the trace did not say, or said of itself that cannot be. Each is counted, and the first ones are named. */

const NAMED = 5;

export function warningsOf(tree: Tree, layout: Layout): readonly ImportWarning[] {
  return [
    ...missingParents(tree),
    ...tree.cycles.slice(0, NAMED).map(({ id }) => ({
      path: `span ${id}`,
      message: 'it is among its own parents: shown as if it had none',
    })),
    ...clocks(tree, layout),
    ...unsaid(layout),
    ...folded(tree),
  ];
}

const listed = (ids: readonly string[]): string =>
  ids.length <= NAMED ? ids.join(', ') : `${ids.slice(0, NAMED).join(', ')} and ${ids.length - NAMED} more`;
const idsOf = (nodes: readonly Node[]): readonly string[] => nodes.map(({ span }) => span.id);
const at = (node: Node | undefined): string => (node === undefined ? 'spans' : `span ${node.span.id}`);

function missingParents({ roots }: Tree): readonly ImportWarning[] {
  const lost = new Map<string, Node[]>();
  for (const node of roots) {
    const { missingParent } = node;
    if (missingParent === undefined) continue;
    const others = lost.get(missingParent);
    if (others === undefined) lost.set(missingParent, [node]);
    else others.push(node);
  }
  const told = [...lost].slice(0, NAMED).map(([parent, nodes]) => ({
    path: at(nodes[0]),
    message: `its parent ${parent} has not arrived: until it does, ${nodes.length === 1 ? 'this span stands' : `${nodes.length} spans stand`} at the top of the run`,
  }));
  return lost.size <= NAMED
    ? told
    : [...told, { path: 'spans', message: `${lost.size - NAMED} more parents have not arrived` }];
}

function clocks({ startless }: Tree, { skewed }: Layout): readonly ImportWarning[] {
  return [
    ...(skewed.length === 0
      ? []
      : [
          {
            path: at(skewed[0]),
            message: `the clocks disagree, or work outlived what began it: ${skewed.length} spans begin before or end after the span that holds them, or end before they begin (${listed(idsOf(skewed))})`,
          },
        ]),
    ...(startless.length === 0
      ? []
      : [
          {
            path: `span ${startless[0]?.id}`,
            message: `${startless.length} spans do not say when they began; they stand at the beginning of the run`,
          },
        ]),
  ];
}

function unsaid({ steps }: Layout): readonly ImportWarning[] {
  const warnings: ImportWarning[] = [];
  const tools = steps.filter(({ call }) => call.kind === 'tool');
  if (tools.length > 0) {
    const names = [...new Set(tools.map(({ call }) => call.name))].sort();
    warnings.push({
      path: at(tools[0]?.node),
      message: `OTLP does not say what a tool does to the world: the effects of ${listed(names)} are unknown`,
    });
  }
  const silent = steps.filter(
    ({ call }) => call.kind === 'llm' && call.messages.length === 0 && call.reply === undefined,
  );
  if (silent.length > 0) {
    warnings.push({
      path: at(silent[0]?.node),
      message: `${silent.length} model calls were sent without their messages (content capture was off where they were written)`,
    });
  }
  const bare = tools.filter(
    ({ call }) =>
      call.kind === 'tool' &&
      call.input === undefined &&
      call.result === undefined &&
      call.failure === undefined,
  );
  if (bare.length > 0) {
    warnings.push({
      path: at(bare[0]?.node),
      message: `${bare.length} tool calls were sent without arguments and results`,
    });
  }
  const ran = new Set(tools.map(({ call }) => (call.kind === 'tool' ? call.callId : undefined)));
  const unseen = steps
    .flatMap(({ call }) => (call.kind === 'llm' ? callsIn(call.reply) : []))
    .filter(({ id }) => !ran.has(id));
  if (unseen.length > 0 && steps.length > 0) {
    warnings.push({
      path: at(steps[0]?.node),
      message: `${unseen.length} calls that a model asked for have no span of their own (${listed([...new Set(unseen.map(({ name }) => name))].sort())}): they are in its messages only`,
    });
  }
  return warnings;
}

function folded({ nodes, plain }: Tree): readonly ImportWarning[] {
  if (plain && nodes.length > 0) {
    return [
      {
        path: 'spans',
        message:
          'no span says anything of models, tools or agents: each is shown as a step of kind "compute"',
      },
    ];
  }
  const told = nodes.filter((node) => node.folded);
  if (told.length === 0) return [];
  const names = [...new Set(told.map(({ span }) => span.name.slice(0, 60).toWellFormed()))].sort();
  return [
    {
      path: 'spans',
      message: `${told.length} spans are no steps, and are told by the variable "span" where they end: ${listed(names)}`,
    },
  ];
}
