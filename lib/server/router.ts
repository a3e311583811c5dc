import type { RouteHandler } from './endpoint';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';
/** What a route file exports. */
export type RouteModule<Handler = RouteHandler> = { readonly [M in Method]?: Handler };
/** Next's notation, `/api/v1/runs/[runId]`, and the route file's exports. */
export type RouteTable<Handler = RouteHandler> = readonly (readonly [
  path: string,
  module: RouteModule<Handler>,
])[];

export type Match<Handler = RouteHandler> =
  | {
      readonly kind: 'found';
      readonly handler: Handler;
      readonly params: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'method-not-allowed'; readonly allow: string }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'none' };

interface Branch<Handler> {
  readonly fixed: Map<string, Branch<Handler>>;
  free: { readonly name: string; readonly branch: Branch<Handler> } | undefined;
  /** Takes whatever follows. */
  rest: { readonly name: string; readonly module: RouteModule<Handler> } | undefined;
  module: RouteModule<Handler> | undefined;
}

const branch = <Handler>(): Branch<Handler> => ({
  fixed: new Map(),
  free: undefined,
  rest: undefined,
  module: undefined,
});

/**
 * Finds route files by path: fixed segments before free ones, each segment decoded once. What `[...name]` takes stays
 * encoded, since a segment of it may hold a slash.
 */
export function router<Handler>(
  table: RouteTable<Handler>,
): (method: string, pathname: string) => Match<Handler> {
  const root = branch<Handler>();
  for (const [path, module] of table) plant(root, path.split('/').slice(1), module);
  return (method, pathname) => {
    const params: Record<string, string> = {};
    let at = root;
    const segments = pathname.split('/').slice(1);
    for (const [n, segment] of segments.entries()) {
      const { rest } = at;
      const known = at.fixed.get(segment);
      if (known === undefined && rest !== undefined && segment !== '') {
        params[rest.name] = segments.slice(n).join('/');
        return pick(rest.module, method, params);
      }
      const next = known ?? take(at, segment, params);
      if (typeof next === 'string') return { kind: next };
      at = next;
    }
    return at.module === undefined ? { kind: 'none' } : pick(at.module, method, params);
  };
}

/** The branch after a free segment. */
function take<Handler>(
  { free }: Branch<Handler>,
  segment: string,
  params: Record<string, string>,
): Branch<Handler> | 'none' | 'malformed' {
  if (free === undefined || segment === '') return 'none';
  const value = decode(segment);
  if (value === undefined) return 'malformed';
  params[free.name] = value;
  return free.branch;
}

function plant<Handler>(
  root: Branch<Handler>,
  segments: readonly string[],
  module: RouteModule<Handler>,
): void {
  let at = root;
  for (const segment of segments) {
    if (segment.startsWith('[...')) {
      at.rest = { name: segment.slice(4, -1), module };
      return;
    }
    if (segment.startsWith('[')) {
      at.free ??= { name: segment.slice(1, -1), branch: branch() };
      at = at.free.branch;
    } else {
      const next: Branch<Handler> = at.fixed.get(segment) ?? branch();
      at.fixed.set(segment, next);
      at = next;
    }
  }
  at.module = module;
}

function pick<Handler>(
  module: RouteModule<Handler>,
  method: string,
  params: Readonly<Record<string, string>>,
): Match<Handler> {
  const handler = module[(method === 'HEAD' ? 'GET' : method) as Method];
  if (handler !== undefined) return { kind: 'found', handler, params };
  const allow = Object.keys(module).flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : name));
  return { kind: 'method-not-allowed', allow: allow.filter((name) => /^[A-Z]+$/.test(name)).join(', ') };
}

function decode(segment: string): string | undefined {
  try {
    return segment.includes('%') ? decodeURIComponent(segment) : segment;
  } catch {
    return undefined;
  }
}
