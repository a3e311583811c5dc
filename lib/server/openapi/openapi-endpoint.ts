import { z } from 'zod';
import { ok } from '@/lib/core/shared/result';
import type { OpenApiDocument } from '@/lib/wire/openapi';
import { endpoint, jsonAnswer, type RouteHandler } from '../endpoint';
import type { RouteTable } from '../router';
import { documentOf } from './document';

/**
 * The document's own route. It is given the table, of which it is a line itself: the route file and `routes.ts` both
 * call this, since neither may import the other.
 */
export function openapiEndpoint(table: () => RouteTable): RouteHandler {
  let made: OpenApiDocument | undefined;
  return endpoint({
    doc: {
      id: 'getDocument',
      tag: 'This document',
      summary: 'The API as OpenAPI 3.1',
      description:
        'Generated from the schemas that parse requests and describe answers. The page API of the console shows it for people.',
      answers: {
        200: {
          says: 'This document.',
          json: z.object({ openapi: z.literal('3.1.1'), info: z.looseObject({ title: z.string() }) }).loose(),
        },
      },
    },
    run: async () => {
      made ??= documentOf(table());
      return ok(made);
    },
    answer: (document) => jsonAnswer(document, 200),
    status: { ok: 200 },
  });
}
