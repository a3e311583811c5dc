import type { RouteHandler } from './endpoint';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';
/** What a route file exports. */
export type RouteModule = { readonly [M in Method]?: RouteHandler };
/** Next's notation, `/api/v1/runs/[runId]`, and the route file's exports. */
export type RouteTable = readonly (readonly [path: string, module: RouteModule])[];

export type Match =
  | {
      readonly kind: 'found';
      readonly handler: RouteHandler;
      readonly params: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'method-not-allowed'; readonly allow: string }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'none' };

interface Branch {
  readonly fixed: Map<string, Branch>;
  free: { readonly name: string; readonly branch: Branch } | undefined;
  module: RouteModule | undefined;
}

const branch = (): Branch => ({ fixed: new Map(), free: undefined, module: undefined });

/** Finds route files by path: fixed segments before free ones, each segment decoded once. */
export function router(table: RouteTable): (method: string, pathname: string) => Match {
  const root = branch();
  for (const [path, module] of table) plant(root, path.split('/').slice(1), module);
  return (method, pathname) => {
    const params: Record<string, string> = {};
    let at: Branch | undefined = root;
    for (const segment of pathname.split('/').slice(1)) {
      const known: Branch | undefined = at.fixed.get(segment);
      if (known !== undefined) at = known;
      else if (at.free === undefined || segment === '') return { kind: 'none' };
      else {
        const value = decode(segment);
        if (value === undefined) return { kind: 'malformed' };
        params[at.free.name] = value;
        at = at.free.branch;
      }
    }
    return at.module === undefined ? { kind: 'none' } : pick(at.module, method, params);
  };
}

function plant(root: Branch, segments: readonly string[], module: RouteModule): void {
  let at = root;
  for (const segment of segments) {
    if (segment.startsWith('[')) {
      at.free ??= { name: segment.slice(1, -1), branch: branch() };
      at = at.free.branch;
    } else {
      const next: Branch = at.fixed.get(segment) ?? branch();
      at.fixed.set(segment, next);
      at = next;
    }
  }
  at.module = module;
}

function pick(module: RouteModule, method: string, params: Readonly<Record<string, string>>): Match {
  const handler = module[(method === 'HEAD' ? 'GET' : method) as Method];
  if (typeof handler === 'function') return { kind: 'found', handler, params };
  return {
    kind: 'method-not-allowed',
    allow: Object.keys(module)
      .filter((name) => /^[A-Z]+$/.test(name))
      .join(', '),
  };
}

function decode(segment: string): string | undefined {
  try {
    return segment.includes('%') ? decodeURIComponent(segment) : segment;
  } catch {
    return undefined;
  }
}
