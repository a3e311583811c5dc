import ELK, { type ElkExtendedEdge } from 'elkjs/lib/elk-api';
import { edgeId, NODE, type Placed, type Shape } from './to-graph';

let elk: InstanceType<typeof ELK> | undefined;
/** One worker for the page, started with the first layout. */
const engine = () => {
  elk ??= new ELK({
    workerFactory: () => new Worker(new URL('./elk.worker.ts', import.meta.url), { type: 'module' }),
  });
  return elk;
};

const options = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.edgeRouting': 'SPLINES',
  'elk.spacing.nodeNode': '36',
  'elk.layered.spacing.nodeNodeBetweenLayers': '44',
  'elk.spacing.edgeNode': '18',
  'elk.spacing.edgeEdge': '14',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
  'elk.layered.nodePlacement.strategy': 'BRANDES_KOEPF',
  'elk.spacing.nodeSelfLoop': '26',
  'elk.padding': '[top=30,left=12,bottom=12,right=12]',
};

const pointsOf = (edge: ElkExtendedEdge) =>
  (edge.sections ?? []).flatMap((section) => [
    section.startPoint,
    ...(section.bendPoints ?? []),
    section.endPoint,
  ]);

/** Places a machine off the main thread. */
export async function layout(shape: Shape): Promise<Placed> {
  const placed = await engine().layout({
    id: 'machine',
    layoutOptions: options,
    children: shape.states.map((id) => ({ id, ...NODE })),
    edges: shape.edges.map(({ from, to }) => ({ id: edgeId(from, to), sources: [from], targets: [to] })),
  });
  return {
    nodes: new Map((placed.children ?? []).map((node) => [node.id, { x: node.x ?? 0, y: node.y ?? 0 }])),
    edges: new Map((placed.edges ?? []).map((edge) => [edge.id, pointsOf(edge)])),
  };
}
