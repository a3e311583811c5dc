import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { methods, type Operation } from '@/lib/wire/openapi';
import { routes } from '../routes';
import { documentOf } from './document';
import { openapiSchema } from './openapi-schema';

const document = documentOf(routes);
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  methods.flatMap((method) => {
    const operation = item[method];
    return operation === undefined ? [] : [{ path, method, operation }];
  }),
);
/** What programs get: JSON, without members that are `undefined`. */
const sent = JSON.parse(JSON.stringify(document)) as Record<string, unknown>;

const ajv = () => addFormats(new Ajv2020({ strict: false, allErrors: true }));

describe('the document of the API', () => {
  it('is OpenAPI 3.1 by structure, with nothing in it that 3.1 does not have', () => {
    const validate = ajv().compile(openapiSchema);
    expect(validate(sent) ? [] : validate.errors).toEqual([]);
    // The check itself can fail.
    const [path] = Object.keys(document.paths);
    const wrong = structuredClone(sent) as { paths: Record<string, Record<string, { summery?: string }>> };
    Object.assign(Object.values(wrong.paths[path ?? ''] ?? {})[0] ?? {}, { summery: 'x' });
    expect(validate(wrong)).toBe(false);
  });

  it('has only schemas of the dialect, whose references all lead somewhere', () => {
    const { schemas } = document.components;
    const checker = ajv();
    for (const [name, schema] of Object.entries(schemas)) {
      expect(checker.validateSchema(schema), `${name}: ${checker.errorsText()}`).toBe(true);
    }
    const refs = [...JSON.stringify(sent).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref ?? '');
    expect(refs.length).toBeGreaterThan(100);
    const known = new Set(Object.keys(schemas).map((name) => `#/components/schemas/${name}`));
    expect([...new Set(refs)].filter((ref) => !known.has(ref))).toEqual([]);
    expect(Object.keys(schemas).filter((name) => !/^[A-Z][A-Za-z0-9]*$/.test(name))).toEqual([]);
  });

  it('has every path and method of the table that answers requests, and no other', () => {
    const table = routes.flatMap(([path, module]) =>
      Object.keys(module)
        .filter((name) => /^[A-Z]+$/.test(name))
        .map((method) => `${method} ${path.replaceAll(/\[(?:\.{3})?([^\]]+)\]/g, '{$1}')}`),
    );
    expect(operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`).sort()).toEqual(
      table.sort(),
    );
  });

  it('tells of every operation what it is, under a name of its own', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { operation, path } of operations) {
      expect(operation.operationId).toMatch(/^[a-z][A-Za-z]+$/);
      expect(operation.summary, path).not.toMatch(/\.$/);
      expect(operation.description.length, path).toBeGreaterThan(20);
      expect(successes(operation).length, path).toBeGreaterThan(0);
    }
  });

  it('names exactly the parameters that stand in each path', () => {
    for (const { path, operation } of operations) {
      const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
      const named = (operation.parameters ?? []).filter((one) => one.in === 'path');
      expect(named.map(({ name }) => name)).toEqual(inPath);
      expect(named.every(({ required }) => required)).toBe(true);
    }
  });

  it('keeps the names that programs were generated from', () => {
    const names = Object.keys(document.components.schemas);
    expect(PUBLISHED.split(' ').filter((name) => !names.includes(name))).toEqual([]);
  });
});

/** Of version 1. A name that is missing breaks programs; a new one does not. */
const PUBLISHED =
  'Action Appended AppendedMany AppendMany Batch Bucket BucketPage Checkpoint CheckpointPage Claim ClaimRequest Command ' +
  'CommandAnswer CreatedRun CreateRun Decision DecisionRequest Diff Edit Effect EffectPage Event EventKind EventPage ' +
  'Evidence Graph Heartbeat HeartbeatAnswer InlinePayload Instant Json Machine MachineDigest MachineState Message ' +
  'MessagePage Model NewEvent PayloadRef Phase Plan PlannedStep PlanOptions PlanRequest Question QuestionPage Release Run ' +
  'RunId RunPage RunStatus Seq Session Share SharedRun SharePage Sha256 SignIn StalePlanProblem State Step StepDetail ' +
  'StepKey StepPage Tool UnleasedBatch Upload Worker WorkerPage AuditEntry AuditPage HeldProblem InvalidRequestProblem';

const successes = (operation: Operation) =>
  Object.keys(operation.responses).filter((status) => Number(status) < 400);
