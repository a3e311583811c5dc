import { expect, it } from 'vitest';
import { curlOf, matches, type NamedOperation, schemaNode, textOf } from './api-reference';

const schemas = {
  Id: { type: 'string', minLength: 1, maxLength: 8, description: 'An id.' },
  Tree: {
    type: 'object',
    properties: {
      id: { $ref: '#/components/schemas/Id' },
      parts: { type: 'array', items: { $ref: '#/components/schemas/Tree' } },
    },
    required: ['id'],
  },
};
const node = (schema: object) => schemaNode(schema as Record<string, unknown>, schemas);

it('opens a schema up to where it would hold itself', () => {
  const tree = node({ $ref: '#/components/schemas/Tree' });
  expect(tree).toMatchObject({
    name: 'Tree',
    type: 'object',
    members: [
      {
        name: 'id',
        required: true,
        node: { name: 'Id', type: 'text', notes: ['1 to 8 characters'], description: 'An id.' },
      },
      {
        name: 'parts',
        required: false,
        node: { type: 'list', each: { name: 'Tree', cut: true, members: [] } },
      },
    ],
  });
});

it.each([
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'value or null', []],
  [{ oneOf: [{ type: 'string' }, { type: 'integer' }] }, 'one of 2', []],
  [{ type: 'string', enum: ['a', 'b'], default: 'a' }, 'text', ['a | b', 'default "a"']],
  [{ type: 'integer', minimum: 1, maximum: 9 }, 'whole number', ['from 1 to 9']],
  [{ type: 'integer', minimum: 0 }, 'whole number', ['at least 0']],
  [{ type: 'object', additionalProperties: { type: 'string' } }, 'map', []],
  [{ type: 'object', additionalProperties: false }, 'object', []],
  [{}, 'any JSON', []],
  [{ const: 1, type: 'number' }, 'number', ['always 1']],
])('says %j in words', (schema, type, notes) => {
  expect(node(schema)).toMatchObject({ type, notes });
});

const operation: NamedOperation = {
  method: 'POST',
  path: '/api/v1/runs/{runId}/plan',
  operation: {
    operationId: 'planOrder',
    tags: ['Orders'],
    summary: 'What an order would do',
    description: 'Changes nothing.',
    requestBody: {
      required: true,
      content: { 'application/json': { schema: {}, example: { reason: "it's" } } },
    },
    responses: { '200': { description: 'x' } },
  },
};

it('finds an operation by any of its words', () => {
  expect(matches(textOf(operation), 'plan order')).toBe(true);
  expect(matches(textOf(operation), 'POST runs')).toBe(true);
  expect(matches(textOf(operation), 'plan stream')).toBe(false);
  expect(matches(textOf(operation), '')).toBe(true);
});

it('makes one shell word of a body, whatever stands in it', () => {
  expect(curlOf(operation, 'http://c', true)).toBe(
    [
      "curl --request POST 'http://c/api/v1/runs/RUN_ID/plan'",
      '--header "authorization: Bearer $RERAIL_TOKEN"',
      "--header 'content-type: application/json'",
      `--data '{"reason":"it'\\''s"}'`,
    ].join(' \\\n  '),
  );
});
