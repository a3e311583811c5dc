import {
  type JsonSchema,
  type MethodName,
  methods,
  type OpenApiDocument,
  type Operation,
  type Parameter,
} from '@/lib/wire/openapi';

/* The document of the API as its page shows it. */

export type { OpenApiDocument, Parameter };

export interface NamedOperation {
  readonly method: Uppercase<MethodName>;
  readonly path: string;
  readonly operation: Operation;
}

/** All operations, in order of the document's tags and then of its paths. */
export function operationsOf(document: OpenApiDocument): readonly NamedOperation[] {
  const order = document.tags.map(({ name }) => name);
  const place = ({ operation }: NamedOperation) => order.indexOf(operation.tags[0] ?? '');
  return Object.entries(document.paths)
    .flatMap(([path, item]) =>
      methods.flatMap((method): NamedOperation[] => {
        const operation = item[method];
        const name = method.toUpperCase() as Uppercase<MethodName>;
        return operation === undefined ? [] : [{ method: name, path, operation }];
      }),
    )
    .sort((a, b) => place(a) - place(b));
}

/** What a search looks through: what the operation is called, and what it says. */
export function textOf({ method, path, operation }: NamedOperation): string {
  const { operationId, summary, description, tags, parameters = [] } = operation;
  const names = parameters.map(({ name }) => name);
  return [method, path, operationId, summary, description, ...tags, ...names].join(' ').toLowerCase();
}

/** Whether every word of the search stands somewhere in the text. */
export const matches = (text: string, search: string): boolean =>
  search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));

/** A schema as it is shown: what it is in words, and what it holds. */
export interface SchemaNode {
  /** Name of the component that it is. */
  readonly name: string | undefined;
  readonly type: string;
  /** Limits, a default, a fixed value. */
  readonly notes: readonly string[];
  readonly description: string | undefined;
  readonly members: readonly MemberNode[];
  /** One of these. */
  readonly options: readonly SchemaNode[];
  /** Of a list, or of a map by name. */
  readonly each: SchemaNode | undefined;
  /** It holds itself, or is too deep: it is shown under its name alone. */
  readonly cut: boolean;
}
export interface MemberNode {
  readonly name: string;
  readonly required: boolean;
  readonly node: SchemaNode;
}

const REF = '#/components/schemas/';
const DEEPEST = 6;

/** The schema opened up to where a named one would hold itself. */
export function schemaNode(
  schema: JsonSchema,
  schemas: OpenApiDocument['components']['schemas'],
  above: readonly string[] = [],
  depth = 0,
): SchemaNode {
  const ref = textAt(schema, '$ref');
  const name = ref?.startsWith(REF) ? ref.slice(REF.length) : undefined;
  const target = name === undefined ? schema : { ...schemas[name], ...without(schema, '$ref') };
  const cut = depth > DEEPEST || (name !== undefined && above.includes(name));
  const within = name === undefined ? above : [...above, name];
  const inner = (one: JsonSchema) => schemaNode(one, schemas, within, depth + 1);
  const each = schemaAt(target, 'items') ?? schemaAt(target, 'additionalProperties');
  const both = optionsOf(target);
  return {
    name,
    type: typeOf(target),
    notes: notesOf(target),
    description: textAt(target, 'description'),
    members: cut ? [] : membersOf(target, inner),
    options: cut ? [] : both.map(inner),
    each: cut || each === undefined ? undefined : inner(each),
    cut: cut && (each !== undefined || both.length > 0 || schemaAt(target, 'properties') !== undefined),
  };
}

function membersOf(schema: JsonSchema, inner: (one: JsonSchema) => SchemaNode): readonly MemberNode[] {
  const required = (schema['required'] ?? []) as readonly string[];
  return Object.entries(schemaAt(schema, 'properties') ?? {}).map(([name, member]) => ({
    name,
    required: required.includes(name),
    node: inner(member as JsonSchema),
  }));
}

/** `null` beside one other schema is told in words. */
function optionsOf(schema: JsonSchema): readonly JsonSchema[] {
  return ((schema['anyOf'] ?? schema['oneOf'] ?? []) as readonly JsonSchema[]).filter(
    (one) => one['type'] !== 'null',
  );
}

function typeOf(schema: JsonSchema): string {
  const both = (schema['anyOf'] ?? schema['oneOf']) as readonly JsonSchema[] | undefined;
  if (both !== undefined) {
    const others = optionsOf(schema).length;
    const orNull = others < both.length ? ' or null' : '';
    return others === 1 ? `value${orNull}` : `one of ${others}${orNull}`;
  }
  if (schema['enum'] !== undefined) return 'text';
  const type = textAt(schema, 'type');
  if (type === undefined) return schema['const'] === undefined ? 'any JSON' : 'value';
  if (type === 'object')
    return schemaAt(schema, 'additionalProperties') && !schemaAt(schema, 'properties') ? 'map' : 'object';
  return words[type] ?? type;
}

const words: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  array: 'list',
};

function notesOf(schema: JsonSchema): readonly string[] {
  const say = (keyword: string, sentence: (value: string) => string) =>
    schema[keyword] === undefined ? [] : [sentence(String(schema[keyword]))];
  const options = schema['enum'] as readonly unknown[] | undefined;
  return [
    ...(options === undefined ? [] : [options.map(String).join(' | ')]),
    ...say('const', (value) => `always ${value}`),
    ...say('format', (value) => value),
    ...range('from', schema['minimum'], schema['maximum'], ''),
    ...range('', schema['minLength'], schema['maxLength'], ' characters'),
    ...range('', schema['minItems'], schema['maxItems'], ' items'),
    ...(options === undefined ? say('pattern', (value) => `matches ${value}`) : []),
    ...(schema['default'] === undefined ? [] : [`default ${JSON.stringify(schema['default'])}`]),
  ];
}

function range(word: string, least: unknown, most: unknown, of: string): readonly string[] {
  const from = word === '' ? '' : `${word} `;
  if (least !== undefined && most !== undefined) return [`${from}${least} to ${most}${of}`];
  if (most !== undefined) return [`at most ${most}${of}`];
  return least === undefined ? [] : [`at least ${least}${of}`];
}

const textAt = (schema: JsonSchema, keyword: string): string | undefined =>
  typeof schema[keyword] === 'string' ? schema[keyword] : undefined;
function schemaAt(schema: JsonSchema, keyword: string): JsonSchema | undefined {
  const value = schema[keyword];
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
    ? (value as JsonSchema)
    : undefined;
}
function without(schema: JsonSchema, keyword: string): JsonSchema {
  const { [keyword]: _, ...rest } = schema;
  return rest;
}

/** Kinds of the refusals of a status, and what an operation says of its own form: the document has both in one text. */
export function refusalOf(
  description: string,
  problems: boolean,
): { readonly own: string | undefined; readonly kinds: readonly string[] } {
  if (!problems) return { own: description, kinds: [] };
  const [first = '', second] = description.split(' Else: ', 2);
  return { own: second === undefined ? undefined : first, kinds: (second ?? first).split(', ') };
}

/** The operation as a line for a shell, with names in capitals where the caller's own values go. */
export function curlOf(
  { method, path, operation }: NamedOperation,
  address: string,
  tokens: boolean,
): string {
  const query = (operation.parameters ?? [])
    .filter(({ in: where, required }) => where === 'query' && required)
    .map(({ name }) => `${name}=${capitals(name)}`)
    .join('&');
  const target = `${address}${path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => capitals(name))}`;
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const body =
    media?.example !== undefined
      ? `--data ${quoted(JSON.stringify(media.example))}`
      : media?.schema !== undefined
        ? "--data '{}'"
        : '--data-binary @FILE';
  return [
    `curl${method === 'GET' ? '' : ` --request ${method}`} '${target}${query === '' ? '' : `?${query}`}'`,
    ...(tokens && operation.security === undefined ? ['--header "authorization: Bearer $RERAIL_TOKEN"'] : []),
    ...(type === undefined ? [] : [`--header 'content-type: ${type}'`, body]),
    ...(type === undefined && 'text/event-stream' in (operation.responses['200']?.content ?? {})
      ? ['--no-buffer']
      : []),
  ].join(' \\\n  ');
}

const capitals = (name: string) => name.replaceAll(/([a-z])([A-Z])/g, '$1_$2').toUpperCase();
/** A text as one word of a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
