import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { mutations } from './importer-contract';
import { agentSpans, onTheWire } from './otlp-spans';

/* Damaged files and arbitrary bytes for the doors that traces come in by. A case is its seed: the same one, the same bytes. */

export interface FuzzedCase {
  readonly seed: number;
  /** What it was made of, and how. */
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly contentType: string;
  readonly contentEncoding?: 'gzip';
}

interface Sample {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const SHARED = here('../../../shared/traces');
/** Larger files make for slower cases, not for other ones. */
const MOST_BYTES = 60_000;

function filesIn(folder: string): readonly Sample[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true })
    .map(String)
    .sort()
    .filter((name) => /\.(?:json|jsonl|pb)$/.test(name))
    .map((name) => ({ name, path: `${folder}/${name}` }))
    .filter(({ path }) => statSync(path).isFile() && statSync(path).size <= MOST_BYTES)
    .map(({ name, path }) => ({ name, bytes: readFileSync(path) }));
}

/** Real files: our own fixtures, what real exporters send, an export, and the shared traces where they are. */
export async function samples(exported: Sample): Promise<readonly Sample[]> {
  const spans = agentSpans();
  return [
    ...filesIn(here('../ingest/langgraph/fixtures')),
    ...filesIn(here('../ingest/otlp/fixtures')),
    { name: 'exported spans, JSON', bytes: await onTheWire(JsonExporter, spans) },
    { name: 'exported spans, protobuf', bytes: await onTheWire(ProtobufExporter, spans) },
    exported,
    ...filesIn(SHARED),
  ];
}

const TYPES = [
  'application/json',
  'application/x-protobuf',
  'application/x-ndjson',
  'application/octet-stream',
  '',
] as const;
const BEGINNINGS = [
  '',
  '{"resourceSpans":[',
  '[{"values":',
  '{"format":"rerail-export",',
  '\n\u0012',
  '\u001f\u008b\b',
] as const;

/** Numbers below a bound, the same ones for a seed. */
function numbers(seed: number): (below: number) => number {
  let state = Math.imul(seed, 2_654_435_761) >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 4_294_967_296) * below);
  };
}

export function fuzzedCase(of: readonly Sample[], seed: number): FuzzedCase {
  const random = numbers(seed);
  const contentType = TYPES[random(TYPES.length)] ?? '';
  if (random(6) === 0) {
    const beginning = Buffer.from(BEGINNINGS[random(BEGINNINGS.length)] ?? '', 'latin1');
    const noise = Buffer.from(Array.from({ length: random(2_000) }, () => random(256)));
    return {
      seed,
      name: 'arbitrary bytes',
      bytes: new Uint8Array(Buffer.concat([beginning, noise])),
      contentType,
    };
  }
  const sample = of[random(of.length)];
  if (sample === undefined) throw new Error('There is nothing to damage');
  let { bytes } = sample;
  const times = 1 + random(4);
  for (let time = 0; time < times; time += 1)
    for (const damaged of mutations(bytes, 1, random(2 ** 31))) bytes = damaged;
  const name = `${sample.name}, damaged ${times} times`;
  if (random(8) > 0) return { seed, name, bytes: new Uint8Array(bytes), contentType };
  let packed: Uint8Array = gzipSync(bytes);
  if (random(3) === 0) for (const damaged of mutations(packed, 1, random(2 ** 31))) packed = damaged;
  return { seed, name, bytes: new Uint8Array(packed), contentType, contentEncoding: 'gzip' };
}

/** Of the environment: `RERAIL_FUZZ_SEED` (else another one every day) and `RERAIL_FUZZ_COUNT`. */
export function fuzzing(count: number): { readonly first: number; readonly count: number } {
  const { RERAIL_FUZZ_SEED: seed, RERAIL_FUZZ_COUNT: asked } = process.env;
  return {
    first: seed === undefined ? Math.floor(Date.now() / 86_400_000) * 100_000 : Number(seed),
    count: asked === undefined ? count : Number(asked),
  };
}

/** Runs `check`, and says how to repeat the case where it throws. */
export async function repeatable(one: FuzzedCase, check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    const again = `RERAIL_FUZZ_SEED=${one.seed} RERAIL_FUZZ_COUNT=1`;
    throw new Error(`${one.name} (${again}): ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/** Longer than this is a hang: of this process's own work, since a machine that is busy with others makes nothing slow … */
const MOST_WORK_MS = 2_000;
/** … and by the clock, for work that waits for what never comes. */
const MOST_WAIT_MS = 20_000;

/** Throws where the work hangs. */
export async function inTime(work: () => Promise<void>): Promise<void> {
  const before = process.cpuUsage();
  let alarm: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    alarm = setTimeout(() => reject(new Error(`it is not done after ${MOST_WAIT_MS} ms`)), MOST_WAIT_MS);
  });
  await Promise.race([work(), late]).finally(() => clearTimeout(alarm));
  const { user, system } = process.cpuUsage(before);
  const worked = (user + system) / 1_000;
  if (worked > MOST_WORK_MS) throw new Error(`it took ${worked} ms of work`);
}

const INSIDE = String.raw`(?:\$|resourceSpans|resource_spans|batches)(?:\.\w+|\[\d+\])*`;
/** All ways in which a refusal says where: the request's part, a line, a place in it, an offset, or a run and its event. */
const PLACE = [
  String.raw`body(?:, byte \d+)?`,
  String.raw`query\.format`,
  String.raw`(?:line \d+, )?(?:byte|character) \d+`,
  String.raw`(?:line \d+, )?${INSIDE}(?:, (?:byte|character) \d+)?`,
  String.raw`line \d+`,
].join('|');

/** Whether the path of an error is a place. */
export const isPlace = (path: string | undefined): boolean => new RegExp(`^(?:${PLACE})$`).test(path ?? '');

/** Whether a sentence names a place and what is wrong there. */
export const namesPlace = (sentence: string): boolean =>
  new RegExp(String.raw`(?:^|[.:;] )(?:${PLACE}): ?\S`).test(sentence) ||
  /^Run \S+ (?:is stored with another content from seq \d+ on|has its home here)/.test(sentence);
