import { z } from 'zod';
import type { JsonSchema, Parameter } from '@/lib/wire/openapi';
import { schemaNames } from '@/lib/wire/v1/names';
import { type ProblemKind, problemMembers } from '@/lib/wire/v1/problems';
import type { Parameter as ShownParameter } from '@/lib/wire/v1/queries';

/*
 * JSON Schema out of the schemas that parse and answer. Zod's own conversion does all of it: a library on top of it would
 * add names for components, which `schemaNames` gives, and rules for telling input from output apart, where we rather
 * want to be told that a name stands for two things.
 */

const named = z.registry<{ id: string; description?: string | undefined }>();
for (const [schema, { id, description }] of schemaNames) named.add(schema, { id, description });

type Io = 'input' | 'output';

/** Schemas by name, as they come up. */
export class Components {
  readonly #schemas = new Map<string, JsonSchema>();

  /** The schema as JSON Schema; what has a name becomes a component and a reference. */
  of(schema: z.ZodType, io: Io): JsonSchema {
    // Under a member of its own, so that a named schema is a reference here, too.
    const { properties, $defs } = z.toJSONSchema(z.object({ it: schema }), {
      io,
      metadata: named,
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema }) => plain(zodSchema, jsonSchema, io),
    });
    for (const [name, definition] of Object.entries($defs ?? {}))
      this.#add(name, pointed(definition as JsonSchema));
    return pointed(properties?.['it'] as JsonSchema);
  }

  /** A parameters' object as a list of them. A member that takes no value is none. */
  parameters(schema: z.ZodType, where: 'path' | 'query'): readonly Parameter[] {
    const { properties = {}, required = [] } = this.of(schema, 'input') as {
      properties?: Record<string, JsonSchema>;
      required?: string[];
    };
    return Object.entries(properties).flatMap(([name, member]) => {
      if ('not' in member) return [];
      const { description, explode, ...rest } = member as JsonSchema & {
        description?: string;
        explode?: boolean;
      };
      const list = explode === undefined ? {} : ({ style: 'form', explode } as const);
      const base = { name, in: where, required: required.includes(name), schema: rest, ...list };
      return description === undefined ? [base] : [{ ...base, description }];
    });
  }

  /** The reference of a refusal. */
  problem(kind: ProblemKind): JsonSchema {
    const name = `${kind.replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase())}Problem`;
    if (!this.#schemas.has(name)) {
      const body = z.strictObject({
        type: z.literal(`urn:rerail:problem:${kind}`),
        title: z.string(),
        status: z.number().int(),
        detail: z.string(),
        ...problemMembers[kind],
      });
      this.#add(name, this.of(body, 'output'));
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  get schemas(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #add(name: string, schema: JsonSchema): void {
    const known = this.#schemas.get(name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`Broken invariant: ${name} names two schemas`);
    this.#schemas.set(name, schema);
  }
}

/** What Zod cannot say or says too exactly. */
function plain(zodSchema: z.core.$ZodTypes, jsonSchema: Record<string, unknown>, io: Io): void {
  const parameter = z.globalRegistry.get(zodSchema)?.['parameter'] as ShownParameter | undefined;
  if (parameter !== undefined) {
    for (const keyword of Object.keys(jsonSchema)) delete jsonSchema[keyword];
    const { schema, explode } = parameter;
    Object.assign(jsonSchema, schema, explode === undefined ? {} : { explode });
  }
  if (zodSchema._zod.def.type === 'default' && jsonSchema['default'] === undefined)
    jsonSchema['default'] = (zodSchema as z.core.$ZodDefault)._zod.def.defaultValue;
  // An answer may get more members one day; only those that are parsed as strict objects are closed.
  if (io === 'output' && zodSchema._zod.def.type === 'object') {
    if ((zodSchema as z.core.$ZodObject)._zod.def.catchall === undefined)
      delete jsonSchema['additionalProperties'];
  }
  // The bounds of whole numbers in JavaScript are nobody's rule.
  if (jsonSchema['minimum'] === Number.MIN_SAFE_INTEGER) delete jsonSchema['minimum'];
  if (jsonSchema['maximum'] === Number.MAX_SAFE_INTEGER) delete jsonSchema['maximum'];
}

/** References into `$defs` as references to components. */
function pointed(schema: JsonSchema): JsonSchema {
  return JSON.parse(
    JSON.stringify(schema).replaceAll('"$ref":"#/$defs/', '"$ref":"#/components/schemas/'),
  ) as JsonSchema;
}
