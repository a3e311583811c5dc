/** Ways in, by what the address calls them. */
export const ways = [
  { id: 'sdk', name: 'SDK', what: 'TypeScript, resumable' },
  { id: 'otlp', name: 'OpenTelemetry', what: 'traced already' },
  { id: 'http', name: 'Plain HTTP', what: 'any language' },
  { id: 'upload', name: 'Upload', what: 'a file' },
] as const;
export type WayId = (typeof ways)[number]['id'];

export const wayOf = (text: string | undefined): WayId => ways.find(({ id }) => id === text)?.id ?? 'sdk';
