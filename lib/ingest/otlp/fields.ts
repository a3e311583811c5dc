/*
 * The messages of an OTLP trace request by field number, from the format's own description
 * (opentelemetry-proto 1.x, `trace/v1/trace.proto`, `common/v1/common.proto`, `resource/v1/resource.proto`). JSON and
 * protobuf are read by these same tables, so that a span is the same bytes whichever way it came.
 */

/** `id`: bytes that JSON writes as hexadecimal, or as base64 where the writer followed proto3-JSON to the letter. */
export type Scalar =
  | 'string'
  | 'id'
  | 'bytes'
  | 'bool'
  | 'double'
  | 'int64'
  | 'fixed64'
  | 'uint32'
  | 'fixed32'
  | 'spanKind'
  | 'statusCode';

export interface Field {
  readonly number: number;
  readonly name: string;
  readonly type: Scalar | Message;
  readonly repeated?: true;
}

export interface Message {
  readonly name: string;
  readonly fields: readonly Field[];
  /** One of its fields is set and which one says something, a zero value too. */
  readonly oneof?: true;
}

const ANY_VALUE: { readonly name: string; readonly oneof: true; fields: readonly Field[] } = {
  name: 'AnyValue',
  oneof: true,
  fields: [],
};
const KEY_VALUE: Message = {
  name: 'KeyValue',
  fields: [
    { number: 1, name: 'key', type: 'string' },
    { number: 2, name: 'value', type: ANY_VALUE },
  ],
};
const ARRAY_VALUE: Message = {
  name: 'ArrayValue',
  fields: [{ number: 1, name: 'values', type: ANY_VALUE, repeated: true }],
};
const KEY_VALUE_LIST: Message = {
  name: 'KeyValueList',
  fields: [{ number: 1, name: 'values', type: KEY_VALUE, repeated: true }],
};
// A value may hold values.
ANY_VALUE.fields = [
  { number: 1, name: 'stringValue', type: 'string' },
  { number: 2, name: 'boolValue', type: 'bool' },
  { number: 3, name: 'intValue', type: 'int64' },
  { number: 4, name: 'doubleValue', type: 'double' },
  { number: 5, name: 'arrayValue', type: ARRAY_VALUE },
  { number: 6, name: 'kvlistValue', type: KEY_VALUE_LIST },
  { number: 7, name: 'bytesValue', type: 'bytes' },
];

const attributes = (number: number): Field => ({
  number,
  name: 'attributes',
  type: KEY_VALUE,
  repeated: true,
});
const dropped = (number: number, what: 'Attributes' | 'Events' | 'Links'): Field => ({
  number,
  name: `dropped${what}Count`,
  type: 'uint32',
});

const EVENT: Message = {
  name: 'Event',
  fields: [
    { number: 1, name: 'timeUnixNano', type: 'fixed64' },
    { number: 2, name: 'name', type: 'string' },
    attributes(3),
    dropped(4, 'Attributes'),
  ],
};
const LINK: Message = {
  name: 'Link',
  fields: [
    { number: 1, name: 'traceId', type: 'id' },
    { number: 2, name: 'spanId', type: 'id' },
    { number: 3, name: 'traceState', type: 'string' },
    attributes(4),
    dropped(5, 'Attributes'),
    { number: 6, name: 'flags', type: 'fixed32' },
  ],
};
const STATUS: Message = {
  name: 'Status',
  fields: [
    { number: 2, name: 'message', type: 'string' },
    { number: 3, name: 'code', type: 'statusCode' },
  ],
};

export const SPAN: Message = {
  name: 'Span',
  fields: [
    { number: 1, name: 'traceId', type: 'id' },
    { number: 2, name: 'spanId', type: 'id' },
    { number: 3, name: 'traceState', type: 'string' },
    { number: 4, name: 'parentSpanId', type: 'id' },
    { number: 5, name: 'name', type: 'string' },
    { number: 6, name: 'kind', type: 'spanKind' },
    { number: 7, name: 'startTimeUnixNano', type: 'fixed64' },
    { number: 8, name: 'endTimeUnixNano', type: 'fixed64' },
    attributes(9),
    dropped(10, 'Attributes'),
    { number: 11, name: 'events', type: EVENT, repeated: true },
    dropped(12, 'Events'),
    { number: 13, name: 'links', type: LINK, repeated: true },
    dropped(14, 'Links'),
    { number: 15, name: 'status', type: STATUS },
    { number: 16, name: 'flags', type: 'fixed32' },
  ],
};
export const SCOPE: Message = {
  name: 'InstrumentationScope',
  fields: [
    { number: 1, name: 'name', type: 'string' },
    { number: 2, name: 'version', type: 'string' },
    attributes(3),
    dropped(4, 'Attributes'),
  ],
};
export const RESOURCE: Message = {
  name: 'Resource',
  fields: [attributes(1), dropped(2, 'Attributes')],
};

/** Field numbers of what is around the spans. */
export const AROUND = {
  request: { resourceSpans: 1 },
  resourceSpans: { resource: 1, scopeSpans: 2, schemaUrl: 3 },
  scopeSpans: { scope: 1, spans: 2, schemaUrl: 3 },
} as const;

export const SPAN_KINDS = [
  'SPAN_KIND_UNSPECIFIED',
  'SPAN_KIND_INTERNAL',
  'SPAN_KIND_SERVER',
  'SPAN_KIND_CLIENT',
  'SPAN_KIND_PRODUCER',
  'SPAN_KIND_CONSUMER',
] as const;
export const STATUS_CODES = ['STATUS_CODE_UNSET', 'STATUS_CODE_OK', 'STATUS_CODE_ERROR'] as const;
