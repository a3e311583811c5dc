import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Context, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { expect, test } from '../fixtures/desk';
import { RunPage } from '../pages/run-page';

/** The fixture as a trace of its own: the journeys of a process share a console. */
const fileOf = (name: string, id: string) => ({
  name,
  mimeType: 'application/json',
  buffer: Buffer.from(
    readFileSync(new URL(`../../lib/ingest/otlp/fixtures/${name}`, import.meta.url), 'utf8').replaceAll(
      '4bf92f3577b34da6a3ce929d0e0e4736',
      id,
    ),
  ),
});

test('an OTLP file is uploaded on the page and opens as a run with its mined machine, calls and messages (S34)', async ({
  page,
}) => {
  const id = randomBytes(16).toString('hex');
  await page.goto('/runs?open=upload');
  const files = page.getByRole('list', { name: 'Files' });
  const item = files.getByRole('listitem', { name: 'support-loop.json', exact: true });
  await page.getByLabel('Files to upload').setInputFiles([fileOf('support-loop.json', id)]);
  await expect(item).toContainText('1 run read');
  await expect(item).toContainText(/note/);
  await item.getByRole('link').click();
  await expect(page).toHaveURL(new RegExp(`/runs/${id}$`));
  const run = new RunPage(page);
  await expect(run.status).toHaveText('Completed');
  await expect(run.machine).toContainText('mined');
  await run.drawn();
  await expect(run.state('model')).toBeVisible();
  await expect(run.state('tools')).toBeVisible();
  await run.step('find_order#1').click();
  await expect(run.inspector.getByRole('heading', { level: 2 })).toHaveText(/find_order/);
  const messages = await run.inspect('Messages');
  await expect(messages.getByRole('listitem').first()).toBeVisible();
  await expect(page.getByText(/cost not recorded/)).toBeVisible();
});

/** An agent that tells of itself by the real exporter, each span as it ends. */
class TracedAgent {
  readonly id: string;
  readonly #provider: BasicTracerProvider;
  readonly #began = Date.now() - 60_000;
  readonly #root;
  readonly #within: Context;
  #clock = 0;

  constructor(consoleUrl: string) {
    this.#provider = new BasicTracerProvider({
      spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter({ url: `${consoleUrl}/v1/traces` }))],
    });
    this.#root = this.#provider.getTracer('parcels').startSpan(
      'invoke_agent parcels',
      {
        startTime: this.#began,
        attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'parcels' },
      },
      ROOT_CONTEXT,
    );
    this.id = this.#root.spanContext().traceId;
    this.#within = trace.setSpan(ROOT_CONTEXT, this.#root);
  }

  asks = (says: string) =>
    this.#does('chat atlas', {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'atlas',
      'gen_ai.usage.input_tokens': 40,
      'gen_ai.output.messages': JSON.stringify([
        { role: 'assistant', parts: [{ type: 'text', content: says }] },
      ]),
    });

  calls = (tool: string, within = this.#within) =>
    this.#does(
      `execute_tool ${tool}`,
      {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': tool,
        'gen_ai.tool.call.arguments': '{"parcel":"P-9"}',
        'gen_ai.tool.call.result': '{"ok":true}',
      },
      within,
    );

  /** Calls a tool within a span that is never sent. Its id. */
  async callsWithinLost(tool: string): Promise<string> {
    const lost = this.#provider.getTracer('parcels').startSpan('lost', {}, this.#within);
    await this.calls(tool, trace.setSpan(this.#within, lost));
    return lost.spanContext().spanId;
  }

  async ends(): Promise<void> {
    this.#root.end(this.#tick());
    await this.#provider.forceFlush();
    await this.#provider.shutdown();
  }

  async #does(
    name: string,
    attributes: Readonly<Record<string, string | number>>,
    within = this.#within,
  ): Promise<void> {
    const span = this.#provider
      .getTracer('parcels')
      .startSpan(name, { startTime: this.#tick(), attributes }, within);
    span.end(this.#tick());
    await this.#provider.forceFlush();
  }

  #tick = (): number => {
    this.#clock += 500;
    return this.#began + this.#clock;
  };
}

test('a run arrives span by span from the real exporter while its page is open: there from its first span, read on in peace, finished when its root comes (S27)', async ({
  rail,
  page,
}) => {
  const agent = new TracedAgent(rail.url);
  await agent.asks('I look for the parcel.');
  const run = new RunPage(page);
  await run.open(agent.id);
  await expect(run.status).toHaveText('Unknown');
  await expect(run.step('atlas#1')).toHaveCount(1);
  await expect(run.machine).toContainText('mined');

  await agent.calls('find_parcel');
  await expect(run.step('find_parcel#1')).toBeVisible();
  await run.step('find_parcel#1').click();
  await expect(page).toHaveURL(/[?&]seq=\d+/);
  const place = new URL(page.url()).searchParams.get('seq') ?? '';
  const standsStill = async () => {
    await expect(run.cursor).toHaveAttribute('aria-valuenow', place);
    await expect(run.inspector.getByRole('heading', { level: 2 })).toHaveText(/find_parcel/);
    expect(new URL(page.url()).searchParams.get('seq')).toBe(place);
  };
  await agent.asks('I write the claim.');
  await expect(run.step('atlas#1')).toHaveCount(2);
  await standsStill();
  await agent.calls('write_claim');
  await expect(run.step('write_claim#1')).toBeVisible();
  await standsStill();
  await expect(run.status).toHaveText('Unknown');

  await agent.ends();
  await expect(run.status).toHaveText('Completed');
  await expect(page.getByRole('heading', { level: 1 })).toContainText('parcels');
  await standsStill();
  await expect(run.value('Result')).toContainText('ok');
  // Of the new journal alone: each step once.
  for (const name of ['find_parcel#1', 'write_claim#1']) await expect(run.step(name)).toHaveCount(1);
  await expect(run.step('atlas#1')).toHaveCount(2);
  expect(await rail.get(`/runs/${agent.id}`)).toMatchObject({ edition: 1, status: 'completed' });
});

test('a parent that never came is named when the run ends, and what stood under it is there (S27)', async ({
  rail,
  page,
}) => {
  const agent = new TracedAgent(rail.url);
  await agent.asks('I weigh it.');
  const lost = await agent.callsWithinLost('weigh_parcel');
  await agent.ends();
  const run = new RunPage(page);
  await run.open(agent.id);
  await expect(run.status).toHaveText('Completed');
  await expect(run.step('weigh_parcel#1')).toHaveCount(1);
  const state = await run.inspect('State');
  await state.getByRole('button', { name: /^notes/ }).click();
  await expect(state).toContainText(`its parent ${lost} has not arrived`);
});
