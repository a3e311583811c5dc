/*
 * The structure of an OpenAPI 3.1 document, for a test, as far as ours uses it: every object closed, so that a misspelt
 * field is found. Written after the specification (OpenAPI 3.1.1, §4); schemas inside are judged by JSON Schema 2020-12.
 */

const text = { type: 'string', minLength: 1 };
const schema = { $ref: 'https://json-schema.org/draft/2020-12/schema' };
const object = (properties: object, required: readonly string[] = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const mapOf = (value: object, keys: object = {}) => ({
  type: 'object',
  propertyNames: keys,
  additionalProperties: value,
});

const media = object({ schema, example: true }, []);
const content = { ...mapOf(media, { pattern: '^[a-z]+/[a-z0-9.+-]+$' }), minProperties: 1 };
const parameter = {
  ...object(
    {
      name: text,
      in: { enum: ['path', 'query', 'header'] },
      required: { type: 'boolean' },
      description: text,
      schema,
      style: { const: 'form' },
      explode: { type: 'boolean' },
    },
    ['name', 'in', 'schema'],
  ),
  if: { properties: { in: { const: 'path' } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { properties: { required: { const: true } }, required: ['required'] },
};
const response = object(
  { description: text, headers: mapOf(object({ description: text, schema })), content },
  ['description'],
);
const security = { type: 'array', items: mapOf({ type: 'array', items: text }) };
const operation = object(
  {
    operationId: text,
    tags: { type: 'array', items: text, minItems: 1, uniqueItems: true },
    summary: text,
    description: text,
    parameters: { type: 'array', items: parameter, uniqueItems: true },
    requestBody: object({ description: text, required: { type: 'boolean' }, content }, ['content']),
    responses: { ...mapOf(response, { pattern: '^[1-5][0-9]{2}$' }), minProperties: 1 },
    security,
    'x-role': { enum: ['viewer', 'operator', 'admin'] },
    'x-shared': { type: 'boolean' },
  },
  ['operationId', 'tags', 'summary', 'description', 'responses'],
);
const method = { enum: ['get', 'put', 'post', 'delete', 'patch'] };

export const openapiSchema = object({
  openapi: { type: 'string', pattern: '^3\\.1\\.\\d+$' },
  info: object({ title: text, version: text, description: text }, ['title', 'version']),
  servers: { type: 'array', items: object({ url: text }) },
  security,
  tags: { type: 'array', items: object({ name: text, description: text }) },
  paths: mapOf({ ...mapOf(operation, method), minProperties: 1 }, { pattern: '^/' }),
  components: object({
    schemas: mapOf(schema, { pattern: '^[a-zA-Z0-9._-]+$' }),
    securitySchemes: mapOf({
      oneOf: [
        object({ type: { const: 'http' }, scheme: { const: 'bearer' }, description: text }),
        object({
          type: { const: 'apiKey' },
          in: { enum: ['cookie', 'header'] },
          name: text,
          description: text,
        }),
      ],
    }),
  }),
});
