import { existsSync, readFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { firstKeys } from '@/lib/ingest/json';
import { importers } from '@/lib/ingest/registry';
import { importTools, mutations, runFaults } from '@/lib/testing/importer-contract';
import { assembled, bytesOf, id, request, span, splitOk, TRACE } from '@/lib/testing/span-words';
import { otlpImporter } from './otlp-importer';

/** An independent description of the format, of which the test writes bytes that no exporter would. */
const { root } = protobuf.parse(
  `syntax = "proto3";
  message Request { repeated ResourceSpans resourceSpans = 1; repeated fixed64 other = 9; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scopeSpans = 2; string schemaUrl = 3; }
  message Resource { repeated KeyValue attributes = 1; uint32 droppedAttributesCount = 2; }
  message ScopeSpans { Scope scope = 1; repeated Span spans = 2; string schemaUrl = 3; }
  message Scope { string name = 1; string version = 2; }
  message Span { bytes traceId = 1; bytes spanId = 2; string traceState = 3; bytes parentSpanId = 4; string name = 5;
    int32 kind = 6; fixed64 startTimeUnixNano = 7; fixed64 endTimeUnixNano = 8; repeated KeyValue attributes = 9;
    uint32 droppedAttributesCount = 10; Status status = 15; fixed32 flags = 16; string unheardOf = 99; }
  message Status { string message = 2; int32 code = 3; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message ArrayValue { repeated AnyValue values = 1; }
  message KeyValueList { repeated KeyValue values = 1; }
  message AnyValue { oneof value { string stringValue = 1; bool boolValue = 2; int64 intValue = 3; double doubleValue = 4;
    ArrayValue arrayValue = 5; KeyValueList kvlistValue = 6; bytes bytesValue = 7; } }`,
  { keepCase: true },
);
const Request = root.lookupType('Request');
const asProtobuf = (value: object): Uint8Array => Request.encode(Request.fromObject(value)).finish();

/** A length-delimited field of these bytes. */
function delimited(number: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  const length: number[] = [];
  for (let left = body.length; left > 0 || length.length === 0; left >>>= 7)
    length.push((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), body]);
}

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const PROTOBUF = 'application/x-protobuf';
const bodies = (bytes: Uint8Array, contentType = 'application/json'): readonly string[] =>
  splitOk(bytes, contentType).parts.map(({ body }) => new TextDecoder().decode(body));
const refused = (bytes: Uint8Array, contentType = '') => {
  const read = otlpImporter.split(bytes, contentType, importTools);
  if (read.ok) throw new Error('it was read');
  return read.problem;
};

const attributes = [
  { key: 'text', value: { stringValue: 'a' } },
  { key: 'empty', value: { stringValue: '' } },
  { key: 'no', value: { boolValue: false } },
  { key: 'big', value: { intValue: '9007199254740993' } },
  { key: 'least', value: { intValue: '-9223372036854775808' } },
  { key: 'half', value: { doubleValue: 0.5 } },
  { key: 'list', value: { arrayValue: { values: [{ stringValue: 'x' }, { intValue: '0' }] } } },
  { key: 'map', value: { kvlistValue: { values: [{ key: 'k', value: { boolValue: true } }] } } },
  { key: 'none', value: { arrayValue: {} } },
];
const one = {
  name: 'chat',
  kind: 3,
  startTimeUnixNano: '1777555053780274700',
  endTimeUnixNano: '1777555053780274701',
  traceState: 'a=b',
  droppedAttributesCount: 2,
  flags: 257,
  status: { code: 2, message: 'no' },
};
const inJson = {
  resourceSpans: [
    {
      resource: {
        attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }],
        droppedAttributesCount: 0,
      },
      schemaUrl: 'https://opentelemetry.io/schemas/1.37.0',
      scopeSpans: [
        {
          scope: { name: 'ai', version: '' },
          schemaUrl: '',
          spans: [
            {
              ...one,
              traceId: TRACE,
              spanId: id('a'),
              parentSpanId: '',
              attributes: [...attributes, { key: 'bytes', value: { bytesValue: 'AP8=' } }],
              events: [],
              links: [],
            },
          ],
        },
      ],
    },
  ],
};
const inProtobuf = {
  resourceSpans: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] },
      schemaUrl: 'https://opentelemetry.io/schemas/1.37.0',
      scopeSpans: [
        {
          scope: { name: 'ai' },
          spans: [
            {
              ...one,
              traceId: hex(TRACE),
              spanId: hex(id('a')),
              attributes: [...attributes, { key: 'bytes', value: { bytesValue: Buffer.from([0, 255]) } }],
            },
          ],
        },
      ],
    },
  ],
};

describe('one form of a span', () => {
  const [body = ''] = bodies(bytesOf(inJson));

  it('is the same bytes out of JSON and out of protobuf', () => {
    expect(bodies(asProtobuf(inProtobuf), PROTOBUF)).toEqual([body]);
    expect(JSON.parse(body)).toMatchObject({
      resourceSpans: { schemaUrl: 'https://opentelemetry.io/schemas/1.37.0' },
      scope: { name: 'ai' },
      span: { ...one, attributes: [...attributes, { key: 'bytes', value: { bytesValue: 'AP8=' } }] },
    });
  });

  const spanOf = (change: object, whole: object = {}) => ({
    resourceSpans: [
      {
        ...inJson.resourceSpans[0],
        ...whole,
        scopeSpans: [
          {
            scope: { name: 'ai' },
            spans: [{ ...inJson.resourceSpans[0]?.scopeSpans[0]?.spans[0], ...change }],
          },
        ],
      },
    ],
  });

  it.each([
    [
      'ids as base64',
      spanOf({ traceId: hex(TRACE).toString('base64'), spanId: hex(id('a')).toString('base64') }),
    ],
    ['ids in capitals', spanOf({ traceId: TRACE.toUpperCase() })],
    [
      'enums by name',
      spanOf({ kind: 'SPAN_KIND_CLIENT', status: { code: 'STATUS_CODE_ERROR', message: 'no' } }),
    ],
    [
      'zero values written out',
      spanOf({ parentSpanId: '', droppedEventsCount: 0, droppedLinksCount: 0, links: null }),
    ],
    [
      'names of the protocol',
      spanOf({
        start_time_unix_nano: one.startTimeUnixNano,
        startTimeUnixNano: undefined,
        trace_state: 'a=b',
        traceState: undefined,
      }),
    ],
  ])('is the same with %s', (_what, value) => expect(bodies(bytesOf(value))).toEqual([body]));

  it('keeps nanoseconds that are bare numbers to the last digit', () => {
    const bare = JSON.stringify(spanOf({}))
      .replace(/"(177755505378027470[01])"/g, '$1')
      .replace('"9007199254740993"', '9007199254740993');
    expect(bare).toContain(':1777555053780274700,');
    expect(bodies(bytesOf(bare))).toEqual([body]);
  });

  it.each([
    [
      'instrumentationLibrarySpans',
      {
        resourceSpans: [
          {
            ...inJson.resourceSpans[0],
            scopeSpans: undefined,
            instrumentationLibrarySpans: [
              {
                instrumentationLibrary: { name: 'ai' },
                spans: inJson.resourceSpans[0]?.scopeSpans[0]?.spans,
              },
            ],
          },
        ],
      },
    ],
    ['Tempo batches', { batches: inJson.resourceSpans }],
    [
      'the names of the protocol',
      {
        resource_spans: [
          {
            resource: inJson.resourceSpans[0]?.resource,
            schema_url: inJson.resourceSpans[0]?.schemaUrl,
            scope_spans: inJson.resourceSpans[0]?.scopeSpans,
          },
        ],
      },
    ],
    ['an array of requests', [inJson]],
  ])('is the same in %s', (_what, value) => expect(bodies(bytesOf(value))).toEqual([body]));

  it('keeps what the format does not know, in JSON and in protobuf', () => {
    const [kept = ''] = bodies(
      bytesOf(spanOf({ novelty: { a: [1, 12345678901234567890n.toString()] } }, { more: true })),
    );
    expect(JSON.parse(kept)).toMatchObject({
      span: { novelty: { a: [1, '12345678901234567890'] } },
      resourceSpans: { more: true },
    });
    const spans = inProtobuf.resourceSpans[0]?.scopeSpans[0]?.spans.map((known) => ({
      ...known,
      unheardOf: 'new',
    }));
    const [unknown = ''] = bodies(asProtobuf({ resourceSpans: [{ scopeSpans: [{ spans }] }] }), PROTOBUF);
    expect(JSON.parse(unknown)).toMatchObject({
      span: { unknownFields: [{ number: 99, wireType: 2, value: Buffer.from('new').toString('base64') }] },
    });
  });

  it('reads a file of one request a line, and counts lines that are none', () => {
    const file = `${JSON.stringify(inJson)}\n\n{"half":\n${JSON.stringify(request([span({ id: 'b' })]))}\n[4]`;
    const read = splitOk(bytesOf(file));
    expect(read.parts.map((part) => part.id)).toEqual([id('a'), id('b')]);
    expect(read.rejected).toBe(2);
    expect(read.warnings.map(({ path }) => path)).toEqual(
      ['line 3', 'line 5, resourceSpans'].map((path) => expect.stringContaining(path.split(',')[0] ?? '')),
    );
  });
});

describe('what cannot be read', () => {
  it('is told with its place, and the rest is read', () => {
    const spans = [
      span({ id: '1' }),
      { ...span({ id: '2' }), traceId: 'short' },
      { ...span({ id: '3' }), spanId: '0000000000000000' },
      { ...span({ id: '4' }), startTimeUnixNano: 'yesterday' },
      'no span',
      { ...span({ id: '5' }), name: 7, attributes: [4, { key: 'a', value: { intValue: 'x' } }] },
    ];
    const read = splitOk(bytesOf(request(spans as never)));
    expect(read.parts.map((part) => part.id)).toEqual([id('1'), id('5')]);
    expect(read.rejected).toBe(4);
    expect(read.warnings.map(({ path }) => path)).toEqual([
      'resourceSpans[0].scopeSpans[0].spans[1].traceId',
      'resourceSpans[0].scopeSpans[0].spans[2].spanId',
      'resourceSpans[0].scopeSpans[0].spans[3].startTimeUnixNano',
      'resourceSpans[0].scopeSpans[0].spans[4]',
      'resourceSpans[0].scopeSpans[0].spans[5].name',
      'resourceSpans[0].scopeSpans[0].spans[5].attributes[0]',
      'resourceSpans[0].scopeSpans[0].spans[5].attributes[1].value.intValue',
    ]);
    expect(runFaults(assembled(read.parts).run)).toEqual([]);
  });

  it('in protobuf too', () => {
    const good = { traceId: hex(TRACE), spanId: hex(id('1')), name: 'good', startTimeUnixNano: '1' };
    const bytes = asProtobuf({
      resourceSpans: [
        {
          scopeSpans: [
            {
              spans: [
                good,
                { ...good, traceId: hex('abcd') },
                { ...good, spanId: hex(id('2')), name: 'bad!' },
              ],
            },
          ],
        },
      ],
    });
    // The last span's name becomes text that is no UTF-8.
    const at = Buffer.from(bytes).indexOf('bad!');
    bytes[at] = 0xff;
    const read = splitOk(bytes, PROTOBUF);
    expect(read.parts.map((part) => part.id)).toEqual([id('1')]);
    expect(read.rejected).toBe(2);
    expect(read.warnings.map(({ path }) => path)).toEqual([
      'resourceSpans[0].scopeSpans[0].spans[1].traceId',
      expect.stringMatching(/^resourceSpans\[0\]\.scopeSpans\[0\]\.spans\[2\], byte \d+$/),
    ]);
  });

  it.each([
    ['nothing of it', '{"a":1}', '$'],
    ['a list that is none', '{"resourceSpans":{}}', 'resourceSpans'],
    ['logs alone', '{"resourceLogs":[]}', '$'],
    ['half a document', '{"resourceSpans":[{"scopeSpans"', '$'],
    ['a text', '"resourceSpans"', '$, byte'],
    ['an empty array', '[]', '$'],
  ])('refuses %s, and says where', (_what, text, path) =>
    expect(refused(bytesOf(text)).path).toContain(path),
  );

  it('says that it did not read the logs that came along', () => {
    const both = { ...inJson, resourceLogs: [{ scopeLogs: [{ logRecords: [{}, {}] }] }] };
    expect(splitOk(bytesOf(both)).warnings).toEqual([
      { path: 'resourceLogs', message: 'not read: 2 log records; runs are made of spans alone' },
    ]);
  });

  it.each([
    ['a length beyond the end', [0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]],
    ['a length that is torn', [0x0a, 0xff]],
    ['a number of eleven bytes', [0x08, ...Array<number>(11).fill(0xff)]],
    ['a group', [0x0b, 0x0c]],
    ['the field 0', [0x02, 0x00]],
    ['another message', [0x12, 0x01, 0x41]],
  ])('refuses protobuf with %s, and says where', (_what, bytes) => {
    const problem = refused(Uint8Array.from(bytes), PROTOBUF);
    expect(problem.path).toMatch(/\$|byte \d+/);
    expect(problem.message).toContain('no OTLP trace request in protobuf');
  });

  it('takes an empty body for the empty request that it is', () => {
    expect(splitOk(new Uint8Array(0), PROTOBUF)).toEqual({ parts: [], warnings: [], rejected: 0 });
    expect(splitOk(bytesOf('{}'))).toEqual({ parts: [], warnings: [], rejected: 0 });
  });

  it('stops at the limit of nesting, in both', () => {
    let value: object = { stringValue: 'deep' };
    for (let i = 0; i < 200; i += 1) value = { arrayValue: { values: [value] } };
    const deep = { ...span({ id: '1' }), attributes: [{ key: 'a', value }] };
    expect(refused(bytesOf(request([deep as never])))).toMatchObject({ kind: 'limit', limit: 'depth' });
    let inner: Uint8Array = Buffer.from([0x0a, 0x04, ...Buffer.from('deep')]);
    for (let i = 0; i < 200; i += 1) inner = delimited(5, delimited(1, inner));
    const bytes = delimited(
      1,
      delimited(
        2,
        delimited(2, delimited(1, hex(TRACE)), delimited(2, hex(id('1'))), delimited(9, delimited(2, inner))),
      ),
    );
    const read = splitOk(bytes, PROTOBUF);
    expect(read.rejected).toBe(1);
    expect(read.warnings[0]?.message).toContain('nested deeper');
  });
});

describe('recognising', () => {
  const head = (bytes: Uint8Array) => new TextDecoder().decode(bytes.subarray(0, 65_536));
  const first = (bytes: Uint8Array, contentType = '') =>
    importers.find((one) => one.recognises(head(bytes), contentType))?.id;

  it('knows JSON, lines and protobuf by their content, and protobuf by its type', () => {
    expect(first(bytesOf(inJson))).toBe('otlp');
    expect(first(bytesOf(`${JSON.stringify(inJson)}\n${JSON.stringify(inJson)}`))).toBe('otlp');
    expect(first(bytesOf({ batches: [] }))).toBe('otlp');
    expect(first(asProtobuf(inProtobuf))).toBe('otlp');
    expect(first(new Uint8Array(0), 'application/x-protobuf')).toBe('otlp');
  });

  it.each([
    '{"values":{},"next":[],"checkpoint_id":"a"}',
    '{"data":[{"traceID":"a"}]}',
    '\n{"a":1}',
    '\n\nplain text',
    '',
  ])('leaves %j to others', (text) => expect(otlpImporter.recognises(text, 'application/json')).toBe(false));
  it('depends on keys alone', () => expect(firstKeys('{"resourceSpans":').keys).toEqual(['resourceSpans']));
});

describe('damaged files', () => {
  const shared = '../shared/traces/engines/aisdk';
  const files = [
    ...(existsSync(shared)
      ? [`${shared}/ai6-otlpjson-01.json`, `${shared}/ai7-otlpjson-05.json`, `${shared}/ai6-otlpproto-02.pb`]
      : []),
    ...['support-loop.json', 'two-agents.json'].map((name) => `${import.meta.dirname}/fixtures/${name}`),
  ];
  if (!existsSync(shared))
    console.log('otlp: the shared traces are not here; damaged copies are made of the fixtures alone');

  it(`2,000 of them: nothing is thrown, each refusal says where, what is read is a journal`, () => {
    let runs = 0;
    const each = Math.ceil(2_000 / files.length);
    for (const [seed, file] of files.entries()) {
      const type = file.endsWith('.pb') ? PROTOBUF : 'application/json';
      let n = 0;
      for (const bytes of mutations(readFileSync(file), each, seed + 1)) {
        n += 1;
        const read = otlpImporter.split(bytes, type, importTools);
        if (!read.ok) {
          expect(read.problem.path).not.toBe('');
          expect(read.problem.message).not.toBe('');
          continue;
        }
        expect(read.value.warnings.every(({ path, message }) => path !== '' && message !== '')).toBe(true);
        for (const runId of new Set(read.value.parts.map((part) => part.runId))) {
          const { run } = otlpImporter.assemble(
            runId,
            read.value.parts.filter((part) => part.runId === runId),
            importTools,
          );
          runs += 1;
          // Each journal is made; every tenth one is looked at line by line.
          if (n % 10 === 0) expect(runFaults(run)).toEqual([]);
        }
      }
    }
    expect(runs).toBeGreaterThan(500);
  }, 300_000);
});
