import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { methods, type OpenApiDocument, type Operation } from '@/lib/wire/openapi';

/** One request and its answer, as they went over the wire. */
export interface Exchange {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** JSON that was sent, where it was. */
  readonly sent?: unknown;
  readonly status: number;
  readonly contentType: string | undefined;
  /** The answer's text. */
  readonly text: string;
}

/**
 * Judges exchanges by the document of the API, strictly: an answer may have no status, content type or member that the
 * document does not have, and what was accepted must be a request that it has. Keeps count of what came up.
 */
export class Contract {
  readonly #ajv = addFormats(new Ajv2020({ strict: false, allErrors: false }));
  readonly #checks = new Map<string, ValidateFunction>();
  readonly #paths: readonly { readonly path: string; readonly pattern: RegExp }[];
  /** `operationId status`, or `operationId status kind` of a refusal → how often. */
  readonly seen = new Map<string, number>();
  answers = 0;

  constructor(readonly document: OpenApiDocument) {
    const closed = closing(JSON.parse(JSON.stringify(document.components)));
    this.#ajv.addSchema({ $id: 'api', components: closed as Record<string, unknown> });
    this.#paths = Object.keys(document.paths)
      .map((path) => ({ path, pattern: patternOf(path) }))
      .sort((a, b) => a.path.split('{').length - b.path.split('{').length);
  }

  operation(method: string, path: string): Operation | undefined {
    const name = (method === 'HEAD' ? 'GET' : method).toLowerCase() as (typeof methods)[number];
    const found = this.#paths.find(({ pattern }) => pattern.test(path));
    return found === undefined ? undefined : this.document.paths[found.path]?.[name];
  }

  /** What is wrong with the exchange; empty where nothing is. */
  judge(exchange: Exchange): readonly string[] {
    const { method, target, status } = exchange;
    const [path = '', search = ''] = target.split('?', 2);
    const operation = this.operation(method, path);
    if (operation === undefined) return [`${method} ${path} is not in the document`];
    const where = `${operation.operationId} ${status}`;
    this.answers += 1;
    const answer = operation.responses[String(status)];
    if (answer === undefined) return [`${where} is not in the document: ${exchange.text.slice(0, 300)}`];
    const type = (exchange.contentType ?? '').split(';', 1)[0]?.trim() ?? '';
    this.#count(where);
    const wrong: string[] = [];
    const bodiless = method === 'HEAD' || answer.content === undefined;
    const media = answer.content?.[type];
    if (!bodiless && media === undefined) wrong.push(`${where}: content type ${type} is not in the document`);
    if (bodiless && exchange.text !== '') wrong.push(`${where}: a body where the document has none`);
    if (!bodiless && media?.schema !== undefined) {
      const value = JSON.parse(exchange.text) as { type?: unknown };
      wrong.push(...this.#against(`${where} ${type}`, media.schema, value));
      if (status >= 400) this.#count(`${where} ${String(value.type).replace('urn:rerail:problem:', '')}`);
    }
    if (status < 400) wrong.push(...this.#accepted(operation, search, exchange.sent));
    return wrong;
  }

  /** A schema of the document as a check; answers `undefined` where the value is as it says. */
  check(name: string, schema: object, value: unknown): string | undefined {
    return this.#against(name, schema, value)[0];
  }

  #accepted(operation: Operation, search: string, sent: unknown): readonly string[] {
    const known = new Set(
      (operation.parameters ?? []).flatMap((one) => (one.in === 'query' ? [one.name] : [])),
    );
    const wrong = [...new URLSearchParams(search).keys()]
      .filter((name) => !known.has(name))
      .map((name) => `${operation.operationId} took the parameter ${name}, which is not in the document`);
    const schema = operation.requestBody?.content['application/json']?.schema;
    if (schema !== undefined && sent !== undefined)
      wrong.push(...this.#against(`${operation.operationId} request`, schema, sent));
    return wrong;
  }

  #against(name: string, schema: object, value: unknown): readonly string[] {
    const check = this.#checks.get(name) ?? this.#ajv.compile(closing(pointedAt(schema)) as object);
    this.#checks.set(name, check);
    if (check(value)) return [];
    return (check.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${name}${instancePath}: ${message} ${JSON.stringify(params)} in ${JSON.stringify(value).slice(0, 400)}`,
    );
  }

  #count(key: string): void {
    this.seen.set(key, (this.seen.get(key) ?? 0) + 1);
  }
}

/** References into the document as references into the schema that holds its components. */
const pointedAt = (schema: object): unknown =>
  JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"api#/'));

/** The schema with every object closed that does not say itself what more it may have. */
function closing(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closing);
  if (typeof schema !== 'object' || schema === null) return schema;
  const closed: Record<string, unknown> = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, closing(value)]),
  );
  const shape = closed['properties'];
  // `properties` may also be the name of a member; that of a keyword stands beside `type`.
  if (closed['type'] === 'object' && shape !== undefined && closed['additionalProperties'] === undefined)
    closed['additionalProperties'] = false;
  return closed;
}

/** The last part of a shared link's address stands for a whole path. */
const patternOf = (path: string) =>
  new RegExp(
    `^${path
      .replaceAll('.', '\\.')
      .replaceAll('{path}', '.+')
      .replaceAll(/\{[^}]+\}/g, '[^/]+')}$`,
  );

export const operationsOf = (document: OpenApiDocument) =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [{ path, method: method.toUpperCase(), operation }];
    }),
  );
