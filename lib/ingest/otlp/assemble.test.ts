import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EventKind, EventOf } from '@/lib/core/events/run-event';
import { graphAt, type VisitEvent } from '@/lib/core/projections/graph';
import { foldRun } from '@/lib/core/projections/run-state';
import { importTools, runFaults } from '@/lib/testing/importer-contract';
import {
  assembled,
  bytesOf,
  EPOCH,
  id,
  request,
  runOf,
  type SpanWords,
  span,
  splitOk,
  TRACE,
  textIn,
} from '@/lib/testing/span-words';
import type { Assembled } from '@/lib/usecases/ports';
import { otlpImporter } from './otlp-importer';

const eventsOf = <Kind extends EventKind>({ run }: Assembled, kind: Kind): readonly EventOf<Kind>[] =>
  run.events.filter((event): event is EventOf<Kind> => event.kind === kind);
const keysOf = (made: Assembled): readonly string[] =>
  eventsOf(made, 'step.started').map(({ stepKey }) => stepKey);
const visitsOf = (made: Assembled): readonly string[] =>
  eventsOf(made, 'state.entered').map(({ key }) => key);
const statusOf = (made: Assembled) => foldRun(made.run.events).status;
/** Ids in the order in which the variable `span` tells them. */
const spansTold = (made: Assembled): readonly string[] =>
  eventsOf(made, 'variables.patched').flatMap(({ patch }) =>
    patch
      .filter(({ path }) => path === '/span')
      .map(({ value }) => (JSON.parse(textIn(made, value)) as { readonly span: string }).span),
  );
const graphOf = ({ run: { events } }: Assembled) =>
  graphAt(
    undefined,
    foldRun(events),
    events.filter((event): event is VisitEvent => event.kind.startsWith('state.')),
    [],
  );
const told = ({ warnings }: Assembled): string =>
  warnings.map(({ path, message }) => `${path}: ${message}`).join('\n');

const messages = (...turns: readonly (readonly [role: string, text: string])[]): string =>
  JSON.stringify(turns.map(([role, content]) => ({ role, parts: [{ type: 'text', content }] })));
const llm = (words: SpanWords, more: SpanWords['attributes'] = {}): SpanWords => ({
  ...words,
  name: 'chat atlas',
  attributes: {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'atlas',
    'gen_ai.provider.name': 'acme',
    ...more,
  },
});
const tool = (words: SpanWords, name: string, more: SpanWords['attributes'] = {}): SpanWords => ({
  ...words,
  name: `execute_tool ${name}`,
  attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name, ...more },
});
const agent = (words: SpanWords, name: string): SpanWords => ({
  ...words,
  name: `invoke_agent ${name}`,
  attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': name },
});

/** An agent that asks, looks up, and asks again. */
const loop: readonly SpanWords[] = [
  agent({ id: '1', from: 0, to: 100 }, 'desk'),
  llm(
    { id: '2', parent: '1', from: 5, to: 20 },
    { 'gen_ai.input.messages': messages(['user', 'refund 7?']) },
  ),
  tool({ id: '3', parent: '1', from: 25, to: 40 }, 'lookup', {
    'gen_ai.tool.call.arguments': '{"order":7}',
    'gen_ai.tool.call.result': '{"paid":true}',
  }),
  llm(
    { id: '4', parent: '1', from: 45, to: 60 },
    {
      'gen_ai.input.messages': messages(['user', 'refund 7?'], ['assistant', 'let me see']),
      'gen_ai.output.messages': messages(['assistant', 'yes']),
      'gen_ai.usage.input_tokens': 12,
      'gen_ai.usage.output_tokens': 3,
    },
  ),
];

describe('what a run is made of', () => {
  it('shows the loop of an agent as its phases, and what it was asked and did', () => {
    const made = runOf(loop);
    expect(runFaults(made.run)).toEqual([]);
    expect(made.run.agent).toBe('desk');
    expect(visitsOf(made)).toEqual(['model#1', 'tools#1', 'model#2']);
    expect(keysOf(made)).toEqual(['model#1/atlas#1', 'tools#1/lookup#1', 'model#2/atlas#1']);
    const graph = graphOf(made);
    expect(graph).toMatchObject({ provenance: 'mined', initial: 'model' });
    expect(graph.states.map(({ name, final, visits }) => [name, final, visits])).toEqual([
      ['model', true, 2],
      ['tools', false, 1],
    ]);
    expect(graph.edges.map(({ from, to, taken }) => [from, to, taken])).toEqual([
      ['model', 'tools', 1],
      ['tools', 'model', 1],
    ]);
    const [, lookup] = eventsOf(made, 'step.started');
    expect(lookup?.effect).toBeUndefined();
    expect(textIn(made, lookup?.input)).toBe('{"order":7}');
    const completed = eventsOf(made, 'step.completed');
    expect(completed.map(({ stepKey }) => stepKey)).toEqual(keysOf(made));
    expect(textIn(made, completed[1]?.result)).toBe('{"paid":true}');
    expect(completed[2]?.usage).toEqual({ inputTokens: 12, outputTokens: 3 });
    expect(statusOf(made)).toBe('completed');
    expect(eventsOf(made, 'run.completed')[0]?.at).toBe(EPOCH + 100);
    expect(told(made)).toContain('the effects of lookup are unknown');
    const notes = eventsOf(made, 'variables.patched').at(-1)?.patch[0];
    expect(notes?.path).toBe('/notes');
    expect(JSON.parse(textIn(made, notes?.value))).toEqual(told(made).split('\n'));
  });

  it('has each message of the conversation once, however often requests repeat it', () => {
    const made = runOf(loop);
    expect(eventsOf(made, 'message.appended').map(({ message }) => textIn(made, message))).toEqual([
      '{"role":"user","content":"refund 7?"}',
      '{"role":"assistant","content":"let me see"}',
      '{"role":"assistant","content":"yes"}',
    ]);
    const [first, , second] = eventsOf(made, 'step.started');
    expect([first?.conversation, second?.conversation]).toEqual([1, 2]);
    expect(textIn(made, second?.input)).toBe('{"model":"atlas","messages":[]}');
  });

  it('adds nothing up that the trace does not say: no cost, no effect of a tool, no attempt', () => {
    const made = runOf(loop);
    const state = foldRun(made.run.events);
    expect(state.counts).toMatchObject({ steps: 3, inputTokens: 12, outputTokens: 3 });
    expect(state.counts.costMicroUsd).toBeUndefined();
  });

  it('takes agents for states where there are several, and folds the spans that only wrap', () => {
    const made = runOf([
      { id: '1', name: 'invocation', from: 0, to: 100 },
      agent({ id: '2', parent: '1', from: 1, to: 40 }, 'front'),
      llm({ id: '3', parent: '2', from: 2, to: 20 }),
      llm({ id: '4', parent: '3', from: 3, to: 19 }, { 'gen_ai.usage.input_tokens': 9 }),
      {
        id: '5',
        parent: '4',
        name: 'POST',
        from: 4,
        to: 18,
        attributes: { 'http.request.method': 'POST', 'http.url': 'https://x.test' },
      },
      tool({ id: '6', parent: '2', from: 21, to: 30 }, 'transfer_to_billing'),
      agent({ id: '7', parent: '1', from: 41, to: 99 }, 'billing'),
      tool({ id: '8', parent: '7', from: 42, to: 50 }, 'refund'),
    ]);
    expect(runFaults(made.run)).toEqual([]);
    expect(keysOf(made)).toEqual(['front#1/atlas#1', 'front#1/transfer_to_billing#1', 'billing#1/refund#1']);
    const graph = graphOf(made);
    expect(graph.provenance).toBe('mined');
    expect(graph.edges.map(({ from, to, taken }) => [from, to, taken])).toEqual([['front', 'billing', 1]]);
    // Of visits and steps where they begin, of the run and of what only wraps where they end.
    expect(spansTold(made)).toEqual(['2', '4', '5', '3', '6', '7', '8', '1'].map(id));
    expect(told(made)).toContain('2 spans are no steps');
  });

  it('counts each edge once where visits run side by side and join', () => {
    const branches = (from: number, to: number, name: string, n: string): readonly SpanWords[] => [
      agent({ id: n, parent: '1', from, to }, name),
      llm({ id: `${n}0`, parent: n, from: from + 1, to: to - 1 }),
    ];
    const made = runOf([
      { id: '1', name: 'flow', from: 0, to: 100 },
      ...branches(1, 10, 'plan', '2'),
      ...branches(20, 60, 'left', '3'),
      ...branches(30, 50, 'right', '4'),
      ...branches(70, 90, 'join', '5'),
    ]);
    const state = foldRun(made.run.events);
    expect(Object.fromEntries(Object.entries(state.edges).map(([edge, { count }]) => [edge, count]))).toEqual(
      {
        'plan→left': 1,
        'plan→right': 1,
        'left→join': 1,
        'right→join': 1,
      },
    );
  });

  it('keeps the nesting of agents and tools in the keys', () => {
    const made = runOf([
      agent({ id: '1', from: 0, to: 100 }, 'desk'),
      llm({ id: '2', parent: '1', from: 1, to: 5 }),
      tool({ id: '3', parent: '1', from: 6, to: 50 }, 'research'),
      agent({ id: '4', parent: '3', from: 7, to: 49 }, 'reader'),
      llm({ id: '5', parent: '4', from: 8, to: 20 }),
      tool({ id: '6', parent: '4', from: 21, to: 30 }, 'fetch'),
    ]);
    expect(runFaults(made.run)).toEqual([]);
    expect(keysOf(made)).toEqual([
      'model#1/atlas#1',
      'tools#1/research#1',
      'tools#1/research#1/reader#1',
      'tools#1/research#1/reader#1/atlas#1',
      'tools#1/research#1/reader#1/fetch#1',
    ]);
  });

  it('shows what failed with its error, and what the run failed of', () => {
    const boom = { code: 2, message: 'card declined' };
    const made = runOf([
      { ...agent({ id: '1', from: 0, to: 100 }, 'desk'), status: boom },
      llm({ id: '2', parent: '1', from: 1, to: 5 }),
      {
        ...tool({ id: '3', parent: '1', from: 6, to: 50 }, 'pay', {
          'gen_ai.tool.call.arguments': '{}',
          'error.type': 'CardError',
        }),
        status: boom,
        events: [{ name: 'exception', attributes: { 'exception.stacktrace': 'at pay' } }],
      },
      { ...tool({ id: '4', parent: '1', from: 6, to: 51 }, 'slow', { 'error.type': 'timeout' }) },
    ]);
    expect(runFaults(made.run)).toEqual([]);
    expect(
      eventsOf(made, 'step.failed').map(({ stepKey, failure, error }) => ({ stepKey, failure, error })),
    ).toEqual([
      {
        stepKey: 'tools#1/pay#1',
        failure: 'error',
        error: { type: 'CardError', message: 'card declined', stack: 'at pay' },
      },
      { stepKey: 'tools#1/slow#1', failure: 'timeout', error: { type: 'timeout', message: '' } },
    ]);
    expect(eventsOf(made, 'run.failed')[0]).toMatchObject({
      error: { message: 'card declined' },
      stepKey: 'tools#1/pay#1',
    });
    expect(foldRun(made.run.events).failure?.stepKey).toBe('tools#1/pay#1');
  });

  it('shows a trace that knows nothing of agents span by span, and says so', () => {
    const made = runOf([
      { id: '1', name: 'GET /orders', from: 0, to: 10 },
      { id: '2', parent: '1', name: 'SELECT orders', from: 1, to: 4 },
      { id: '3', parent: '1', name: 'SELECT lines', from: 5, to: 9 },
    ]);
    expect(runFaults(made.run)).toEqual([]);
    expect(eventsOf(made, 'step.started').map(({ stepKey, step }) => [stepKey, step])).toEqual([
      ['work#1/SELECT orders#1', 'compute'],
      ['work#1/SELECT lines#1', 'compute'],
    ]);
    expect(told(made)).toContain('no span says anything of models, tools or agents');
  });

  it.each([
    [
      'gen_ai.prompt and gen_ai.completion',
      { 'gen_ai.prompt': '[{"role":"user","content":"hi"}]', 'gen_ai.completion': 'hello' },
      [],
    ],
    [
      'numbered attributes',
      {
        'gen_ai.prompt.0.role': 'user',
        'gen_ai.prompt.0.content': 'hi',
        'gen_ai.completion.0.role': 'assistant',
        'gen_ai.completion.0.content': 'hello',
      },
      [],
    ],
    [
      'OpenInference',
      {
        'llm.input_messages.0.message.role': 'user',
        'llm.input_messages.0.message.content': 'hi',
        'llm.output_messages.0.message.role': 'assistant',
        'llm.output_messages.0.message.content': 'hello',
      },
      [],
    ],
    [
      'structured attributes',
      {
        'gen_ai.input.messages': [{ role: 'user', parts: [{ type: 'text', content: 'hi' }] }],
        'gen_ai.output.messages': [{ role: 'assistant', parts: [{ type: 'text', content: 'hello' }] }],
      },
      [],
    ],
    [
      'the AI SDK',
      {
        'ai.operationId': 'ai.generateText.doGenerate',
        'ai.prompt.messages': '[{"role":"user","content":[{"type":"text","text":"hi"}]}]',
        'ai.response.text': 'hello',
      },
      [],
    ],
    [
      'Google ADK',
      {
        'gcp.vertex.agent.llm_request': '{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}',
        'gcp.vertex.agent.llm_response': '{"content":{"role":"model","parts":[{"text":"hello"}]}}',
      },
      [],
    ],
    [
      'span events',
      {},
      [
        { name: 'gen_ai.user.message', attributes: { content: 'hi' } },
        {
          name: 'gen_ai.choice',
          attributes: { index: 0, finish_reason: 'stop', message: '{"role":"assistant","content":"hello"}' },
        },
      ],
    ],
  ] as const)('reads messages as %s has them', (_what, attributes, events) => {
    const made = runOf([
      {
        ...llm({ id: '1', from: 0, to: 9 }, attributes as unknown as NonNullable<SpanWords['attributes']>),
        events,
      },
    ]);
    expect(eventsOf(made, 'message.appended').map(({ message }) => textIn(made, message))).toEqual([
      '{"role":"user","content":"hi"}',
      '{"role":"assistant","content":"hello"}',
    ]);
  });

  it('embeddings and retrievals are reads', () => {
    const made = runOf([
      { id: '1', name: 'ai.embed', from: 0, to: 9, attributes: { 'ai.operationId': 'ai.embed' } },
      {
        id: '2',
        parent: '1',
        name: 'ai.embed.doEmbed',
        from: 1,
        to: 8,
        attributes: {
          'ai.operationId': 'ai.embed.doEmbed',
          'ai.model.id': 'vec-1',
          'ai.values': ['"a"'],
          'ai.usage.tokens': 4,
        },
      },
      {
        id: '3',
        name: 'search',
        from: 10,
        to: 12,
        attributes: {
          'openinference.span.kind': 'RETRIEVER',
          'input.value': 'refunds',
          'retrieval.documents.0.document.content': 'policy',
        },
      },
    ]);
    expect(
      eventsOf(made, 'step.started').map(({ stepKey, step, effect }) => [stepKey, step, effect]),
    ).toEqual([
      ['retrieval#1/vec-1#1', 'retrieval', 'read'],
      ['retrieval#1/search#1', 'retrieval', 'read'],
    ]);
    expect(eventsOf(made, 'step.completed')[0]?.usage).toEqual({ inputTokens: 4 });
  });
});

describe('spans that come in any order and over any time (S27, S34)', () => {
  const parts = splitOk(bytesOf(request(loop.map(span)))).parts;

  it('is the same journal, byte for byte, whatever the order and the batches', () => {
    const whole = JSON.stringify(assembled(parts));
    fc.assert(
      fc.property(
        fc.shuffledSubarray([...loop], { minLength: loop.length }),
        fc.integer({ min: 1, max: 4 }),
        (shuffled, size) => {
          const batches = [];
          for (let i = 0; i < shuffled.length; i += size)
            batches.push(splitOk(bytesOf(request(shuffled.slice(i, i + size).map(span)))).parts);
          const made = assembled(batches.flat());
          expect(JSON.stringify(made)).toBe(whole);
          expect([...made.run.payloads.keys()].sort()).toEqual(
            [...assembled(parts).run.payloads.keys()].sort(),
          );
        },
      ),
      { numRuns: 40 },
    );
  });

  const oneSpan = fc.record(
    {
      id: fc.constantFrom('1', '2', '3', '4', '5', '6', '7', '8'),
      parent: fc.constantFrom('1', '2', '3', '4', '5', '9'),
      from: fc.integer({ min: 0, max: 30 }),
      to: fc.integer({ min: 0, max: 30 }),
      kind: fc.constantFrom('llm', 'tool', 'agent', 'unit', 'hull', 'http'),
      failed: fc.boolean(),
    },
    { requiredKeys: ['id', 'kind', 'failed'] },
  );

  it('keeps every law of a journal for any spans at all, and depends on no order', () => {
    fc.assert(
      fc.property(
        fc.array(oneSpan, { minLength: 1, maxLength: 14 }),
        fc.infiniteStream(fc.nat()),
        (words, picks) => {
          const spans = words.map(({ kind, failed, ...at }): SpanWords => {
            const base: SpanWords = { ...at, ...(failed ? { status: { code: 2, message: 'no' } } : {}) };
            if (kind === 'llm')
              return llm(base, { 'gen_ai.input.messages': messages(['user', `turn ${at.id}`]) });
            if (kind === 'tool') return tool(base, 'look');
            if (kind === 'agent') return agent(base, `agent ${at.id}`);
            return {
              ...base,
              name: kind === 'hull' ? 'step 1' : 'work',
              ...(kind === 'http' ? { attributes: { 'http.method': 'GET' } } : {}),
            };
          });
          const given = splitOk(bytesOf(request(spans.map(span)))).parts;
          const made = assembled(given);
          expect(runFaults(made.run)).toEqual([]);
          const again = given
            .map((part) => ({ part, key: picks.next().value ?? 0 }))
            .sort((a, b) => a.key - b.key)
            .map(({ part }) => part);
          expect(JSON.stringify(assembled(again).run)).toBe(JSON.stringify(made.run));
          expect(Object.values(foldRun(made.run.events).edges).every(({ count }) => count > 0)).toBe(true);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('is there from its first span on: unknown until the root has come', () => {
    const child = parts.filter(({ id: own }) => own === id('3'));
    const made = assembled(child);
    expect(runFaults(made.run)).toEqual([]);
    expect(statusOf(made)).toBe('running');
    expect(eventsOf(made, 'run.completed')).toEqual([]);
    expect(keysOf(made)).toEqual(['tools#1/lookup#1']);
    expect(told(made)).toContain(`its parent ${id('1')} has not arrived`);
    // It is in that state until another one is entered.
    expect(eventsOf(made, 'state.left')).toEqual([]);
    expect(keysOf(assembled([...parts].reverse()))).toEqual([
      'model#1/atlas#1',
      'tools#1/lookup#1',
      'model#2/atlas#1',
    ]);
  });

  it('takes a span once, and says which other one had its id', () => {
    const again = splitOk(
      bytesOf(request([span({ ...loop[2], id: '3', name: 'another' } as SpanWords)])),
    ).parts;
    const made = assembled([...parts, ...parts, ...again]);
    expect(keysOf(made)).toHaveLength(3);
    expect(JSON.stringify(assembled([...again, ...parts]).run)).toBe(JSON.stringify(made.run));
    expect(told(assembled([...parts, ...again]))).toContain(
      `span ${id('3')}: skipped: another span has this id`,
    );
  });

  it('leaves a span open that has no end', () => {
    const made = runOf([
      agent({ id: '1', from: 0 }, 'desk'),
      tool({ id: '2', parent: '1', from: 5 }, 'wait'),
    ]);
    expect(runFaults(made.run)).toEqual([]);
    expect(Object.keys(foldRun(made.run.events).open)).toEqual(['tools#1/wait#1']);
    expect(statusOf(made)).toBe('running');
  });
});

describe('clocks and parents that cannot be', () => {
  it('tells spans that stick out of their parent, or end before they begin, and never turns time back', () => {
    const made = runOf([
      agent({ id: '1', from: 10, to: 50 }, 'desk'),
      llm({ id: '2', parent: '1', from: 0, to: 20 }),
      tool({ id: '3', parent: '1', from: 40, to: 90 }, 'late'),
      tool({ id: '4', parent: '1', from: 45, to: 30 }, 'backwards'),
    ]);
    expect(runFaults(made.run)).toEqual([]);
    expect(told(made)).toContain(
      '3 spans begin before or end after the span that holds them, or end before they begin',
    );
    expect(eventsOf(made, 'run.completed')[0]?.at).toBe(EPOCH + 90);
  });

  it('begins a tool after the reply that asked for it where clocks tell whole milliseconds', () => {
    const asks = JSON.stringify([
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'mail', arguments: {} }] },
    ]);
    const made = runOf([
      agent({ id: '1', from: 0, to: 50 }, 'desk'),
      tool({ id: '2', parent: '1', from: 10, to: 10.1 }, 'mail', { 'gen_ai.tool.call.id': 'c1' }),
      llm({ id: '3', parent: '1', from: 10, to: 10.4 }, { 'gen_ai.output.messages': asks }),
    ]);
    expect(runFaults(made.run)).toEqual([]);
    expect(visitsOf(made)).toEqual(['model#1', 'tools#1']);
    const kinds = made.run.events.filter(({ kind }) => kind.startsWith('step.')).map(({ kind }) => kind);
    expect(kinds).toEqual(['step.started', 'step.completed', 'step.started', 'step.completed']);
  });

  it('cuts circles of parents, and says which', () => {
    const made = runOf([
      llm({ id: '1', parent: '3', from: 1, to: 2 }),
      llm({ id: '2', parent: '1', from: 3, to: 4 }),
      tool({ id: '3', parent: '2', from: 5, to: 6 }, 'look'),
      tool({ id: '4', parent: '4', from: 7, to: 8 }, 'self'),
    ]);
    expect(runFaults(made.run)).toEqual([]);
    // The first one wraps the second, which is a model's call within it.
    expect(eventsOf(made, 'step.started')).toHaveLength(3);
    expect(told(made).match(/among its own parents/g)).toHaveLength(2);
    expect(statusOf(made)).toBe('running');
  });

  it('says what a trace does not say of when it began', () => {
    const { startTimeUnixNano: _start, ...timeless } = span(llm({ id: '1' }));
    const made = assembled(splitOk(bytesOf(request([timeless]))).parts);
    expect(runFaults(made.run)).toEqual([]);
    expect(told(made)).toContain('1 spans do not say when they began');
  });
});

describe('hostile content (S36)', () => {
  const nasty = [
    ['HTML', '<img src=x onerror=alert(1)><script>alert(1)</script>'],
    ['ANSI', '\u001b[31mred\u001b[0m'],
    ['a lone surrogate', 'half \ud83d of it'],
    ['U+0000', 'a\u0000b'],
    ['right-to-left text', '\u202eevil\u202c שלום'],
    ['a line of 300 KB', 'x'.repeat(300_000)],
    ['a name of an object of all objects', '__proto__'],
    ['addresses', '../#1:%2e/→'],
    ['nothing', '   '],
  ] as const;

  it.each(nasty)('%s is kept as it came, in every place that a trace has', (_what, text) => {
    const made = runOf([
      { ...agent({ id: '1', from: 0, to: 100 }, text), name: text },
      { id: '2', parent: '1', name: text, from: 1, to: 90, attributes: { [text]: text } },
      {
        ...llm(
          { id: '3', parent: '2', from: 2, to: 10 },
          {
            'gen_ai.request.model': text,
            'gen_ai.provider.name': text,
            'gen_ai.input.messages': JSON.stringify([{ role: text, content: text }]),
            'gen_ai.conversation.id': text,
          },
        ),
        name: text,
      },
      {
        ...tool({ id: '4', parent: '2', from: 11, to: 20 }, text, {
          'gen_ai.tool.call.arguments': text,
          'gen_ai.tool.call.result': text,
        }),
        status: { code: 2, message: text },
      },
      {
        ...tool({ id: '5', parent: '2', from: 21, to: 30 }, text, {
          'gen_ai.tool.call.arguments': JSON.stringify({ [text]: text }),
          'gen_ai.tool.call.result': text,
        }),
      },
    ]);
    expect(runFaults(made.run)).toEqual([]);
    const inputs = eventsOf(made, 'step.started')
      .filter(({ step }) => step === 'tool')
      .map(({ input }) => textIn(made, input));
    expect(JSON.parse(inputs[0] ?? '""')).toBe(text === '   ' ? text : text);
    expect(Object.entries(JSON.parse(inputs[1] ?? '{}') as object)).toEqual([[text, text]]);
    expect(
      eventsOf(made, 'step.completed').some(
        ({ result }) => result !== undefined && JSON.parse(textIn(made, result)) === text,
      ),
    ).toBe(true);
  });

  it('keeps names that are too long to be shown whole in what it tells of their spans', () => {
    const long = (what: string) => `${what} ${'x'.repeat(300)}`;
    const made = runOf([
      agent({ id: '1', from: 0, to: 9 }, long('agent')),
      llm({ id: '2', parent: '1', from: 1, to: 2 }, { 'gen_ai.request.model': long('model') }),
      { ...tool({ id: '3', parent: '1', from: 3, to: 4 }, long('tool')), name: long('span') },
    ]);
    expect(runFaults(made.run)).toEqual([]);
    expect(eventsOf(made, 'step.started').every(({ name }) => [...name].length <= 160)).toBe(true);
    const whole = eventsOf(made, 'variables.patched')
      .flatMap(({ patch }) => patch.map(({ value }) => textIn(made, value)))
      .join();
    for (const what of ['agent', 'model', 'tool', 'span']) expect(whole).toContain(long(what));
  });

  it('keeps an error that no journal line holds beside it', () => {
    const made = runOf([
      { ...tool({ id: '1', from: 0, to: 1 }, 'loud'), status: { code: 2, message: 'x'.repeat(1_200_000) } },
    ]);
    expect(runFaults(made.run)).toEqual([]);
    const [failed] = eventsOf(made, 'step.failed');
    expect(failed?.error.message.length).toBeLessThan(200_000);
    expect(textIn(made, failed?.partial)).toContain('x'.repeat(1_200_000));
  });

  it('does not fall over parts that nobody wrote', () => {
    for (const body of [
      '',
      'null',
      '[]',
      '{"span":7}',
      '{"span":{"attributes":{"a":1},"events":[4],"status":[]}}',
    ]) {
      const made = otlpImporter.assemble(
        assembled(splitOk(bytesOf(request(loop.map(span)))).parts).run.runId,
        [{ id: 'x', body: bytesOf(body) }],
        importTools,
      );
      expect(runFaults(made.run)).toEqual([]);
    }
  });
});

/** ms of the processor: others may have the machine meanwhile. */
const spent = (): number => {
  const { user, system } = process.cpuUsage();
  return Math.round((user + system) / 1_000);
};

describe('size', () => {
  it('S25: 12,400 spans become a run in bounded time, nothing left out', () => {
    const spans: SpanWords[] = [agent({ id: 'ffff', from: 0, to: 30_000 }, 'desk')];
    for (let n = 1; spans.length < 12_400; n += 1) {
      spans.push(
        llm(
          { id: `a${n}`, parent: 'ffff', from: n * 4, to: n * 4 + 1 },
          { 'gen_ai.input.messages': messages(['user', `turn ${n}`]) },
        ),
      );
      if (spans.length < 12_400)
        spans.push(
          tool({ id: `b${n}`, parent: 'ffff', from: n * 4 + 2, to: n * 4 + 3 }, 'look', {
            'gen_ai.tool.call.arguments': '{}',
          }),
        );
    }
    const bytes = bytesOf(request(spans.map(span)));
    const began = spent();
    const { parts } = splitOk(bytes);
    const read = spent();
    const made = assembled(parts);
    const done = spent();
    console.log(
      `12,400 spans (${(bytes.length / 2 ** 20).toFixed(1)} MB): read in ${read - began} ms, assembled in ${done - read} ms of the processor, ${made.run.events.length} events`,
    );
    expect(eventsOf(made, 'step.started')).toHaveLength(12_399);
    expect(done - began).toBeLessThan(20_000);
  }, 120_000);

  it.each([
    ['a chain as deep as it has spans', (n: number) => ({ parent: n === 0 ? undefined : String(n - 1) })],
    ['all side by side', (n: number) => ({ parent: n === 0 ? undefined : '0' })],
    ['circles of two', (n: number) => ({ parent: String(n % 2 === 0 ? n + 1 : n - 1) })],
  ])(
    '6,000 spans in %s do not hang or overflow',
    (_what, place) => {
      const spans = Array.from({ length: 6_000 }, (_, n): SpanWords => {
        const { parent } = place(n);
        const at: SpanWords = {
          id: String(n),
          from: 0,
          to: 50_000,
          ...(parent === undefined ? {} : { parent }),
        };
        return n % 3 === 0 ? tool(at, 'look') : n % 3 === 1 ? agent(at, 'deep') : llm(at);
      });
      const began = spent();
      const { parts } = splitOk(bytesOf(request(spans.map(span))));
      const made = assembled(parts);
      expect(spent() - began).toBeLessThan(20_000);
      expect(new Set(spansTold(made)).size).toBe(parts.length);
      const longest = Math.max(...keysOf(made).map((key) => key.length));
      expect(longest).toBeLessThan(2_048);
    },
    120_000,
  );
});

it("is one run a trace, under the trace's id", () => {
  const other = '0af7651916cd43dd8448eb211c80319c';
  const { parts } = splitOk(bytesOf(request([span({ id: '1' }), span({ id: '1', trace: other })])));
  expect(parts.map(({ runId, id: own }) => [runId, own])).toEqual([
    [TRACE, id('1')],
    [other, id('1')],
  ]);
});
