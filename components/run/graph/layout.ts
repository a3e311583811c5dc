import ELK, { type ElkExtendedEdge, type ElkNode } from 'elkjs/lib/elk-api';
import { isElkAtHand, startElk } from './start-elk';
import { edgeId, NODE, type Placed, type Shape } from './to-graph';

/** The worker's script could not be loaded: the console is away and may come back. */
export class LayoutNotLoaded extends Error {}

interface Engine {
  readonly elk: InstanceType<typeof ELK>;
  /** Rejects where the worker is lost; its layouts would never end. */
  readonly lost: Promise<never>;
}

let engine: Engine | undefined;

/** One worker for the page, started with the first layout, and anew after it was lost. */
function startEngine(): Engine {
  let lose: (error: Error) => void = () => undefined;
  const lost = new Promise<never>((_, reject) => {
    lose = reject;
  });
  lost.catch(() => {
    engine = undefined;
  });
  const elk = new ELK({
    workerFactory: () => {
      const worker = startElk();
      worker.addEventListener('error', (event) => {
        event.preventDefault();
        lose(new LayoutNotLoaded('The console did not send the layout program.'));
      });
      return worker;
    },
  });
  return { elk, lost };
}

const options = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.edgeRouting': 'SPLINES',
  'elk.spacing.nodeNode': '36',
  'elk.layered.spacing.nodeNodeBetweenLayers': '28',
  'elk.spacing.edgeNode': '18',
  'elk.spacing.edgeEdge': '14',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
  'elk.layered.nodePlacement.strategy': 'BRANDES_KOEPF',
  'elk.spacing.nodeSelfLoop': '26',
  'elk.padding': '[top=18,left=12,bottom=12,right=12]',
};

/**
 * Has the program loaded and its first layout made before there is a machine to lay out: that one takes several times as
 * long as any other of its size.
 */
function warmUp(): void {
  engine ??= startEngine();
  const nodes = ['a', 'b'].map((id) => ({ id, ...NODE }));
  const edges = [{ id: 'a→b', sources: ['a'], targets: ['b'] }];
  // Whatever is wrong with it, the machine's own layout will say.
  engine.elk.layout({ id: 'nothing', layoutOptions: options, children: nodes, edges }).catch(() => undefined);
}

const pointsOf = (edge: ElkExtendedEdge) =>
  (edge.sections ?? []).flatMap((section) => [
    section.startPoint,
    ...(section.bendPoints ?? []),
    section.endPoint,
  ]);

/** Places a machine off the main thread. Rejects with `LayoutNotLoaded` where its program cannot be had now. */
export async function layout(shape: Shape): Promise<Placed> {
  engine ??= startEngine();
  const { elk, lost } = engine;
  const laidOut: Promise<ElkNode> = elk.layout({
    id: 'machine',
    layoutOptions: options,
    children: shape.states.map((id) => ({ id, ...NODE })),
    edges: shape.edges.map(({ from, to }) => ({ id: edgeId(from, to), sources: [from], targets: [to] })),
  });
  const placed = await Promise.race([laidOut, lost]);
  return {
    size: { width: placed.width ?? 0, height: placed.height ?? 0 },
    nodes: new Map((placed.children ?? []).map((node) => [node.id, { x: node.x ?? 0, y: node.y ?? 0 }])),
    edges: new Map((placed.edges ?? []).map((edge) => [edge.id, pointsOf(edge)])),
  };
}

if (typeof window !== 'undefined' && isElkAtHand) warmUp();
