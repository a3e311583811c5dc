import { type LlmClient, Rejected, Unavailable } from '@/lib/sdk/index';

/* An LLM client for any endpoint that speaks chat completions, streaming. The demo's own is a local scripted server. */

export interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}
export type AssistantMessage = {
  readonly role: 'assistant';
  readonly content: string | null;
  readonly tool_calls?: readonly ToolCall[];
};
interface Delta {
  readonly content?: string | null;
  readonly tool_calls?: readonly {
    readonly index: number;
    readonly id?: string;
    readonly function?: { readonly name?: string; readonly arguments?: string };
  }[];
}
interface Chunk {
  readonly choices?: readonly { readonly delta?: Delta; readonly finish_reason?: string | null }[];
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } | null;
}
export interface Completion {
  readonly message: AssistantMessage;
  readonly usage?: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly costMicroUsd?: number;
  };
  readonly finish?: string;
}

/** Micro dollars for each token asked and answered. */
interface Price {
  readonly input: number;
  readonly output: number;
}

/** Of `RERAIL_LLM_PRICE`, dollars per million tokens asked and answered: `2.50/10`. */
function priceFrom(text: string | undefined): Price | undefined {
  if (text === undefined) return undefined;
  const [, input, output] = /^(\d+(?:\.\d+)?)\/(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  if (input === undefined || output === undefined)
    throw new Rejected(`RERAIL_LLM_PRICE=${text} is no price: dollars per million tokens, such as 2.50/10`);
  return { input: Number(input), output: Number(output) };
}

/**
 * Where completions come from: `RERAIL_LLM_URL` (such as https://api.openai.com/v1) with `RERAIL_LLM_KEY`, else the
 * scripted server. Its price is known only where it was told; the scripted server has none.
 */
const endpoint = () => {
  const real = process.env['RERAIL_LLM_URL'];
  const url = real ?? process.env['RERAIL_DEMO_LLM_URL'];
  if (url === undefined)
    throw new Unavailable('no LLM endpoint: start the demo with npm start, or set RERAIL_LLM_URL');
  const key = process.env['RERAIL_LLM_KEY'];
  return {
    url: `${url.replace(/\/$/, '')}/chat/completions`,
    authorization: key === undefined ? {} : { authorization: `Bearer ${key}` },
    price: real === undefined ? undefined : priceFrom(process.env['RERAIL_LLM_PRICE']),
  };
};

/** What the endpoint says was used, with its cost where the price is known. */
function usageOf(
  { prompt_tokens, completion_tokens }: NonNullable<Chunk['usage']>,
  price: Price | undefined,
): NonNullable<Completion['usage']> {
  const tokens = { inputTokens: prompt_tokens, outputTokens: completion_tokens };
  if (price === undefined) return tokens;
  return {
    ...tokens,
    costMicroUsd: Math.round(prompt_tokens * price.input + completion_tokens * price.output),
  };
}

async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Chunk> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === 'data: [DONE]') return;
      if (line.startsWith('data: ')) yield JSON.parse(line.slice('data: '.length)) as Chunk;
    }
  }
  throw new Unavailable('the stream broke off before its end');
}

interface OpenCall {
  id: string;
  name: string;
  arguments: string;
}

/** Adds a chunk's parts of tool calls to those gathered so far. */
function gatherCalls(calls: OpenCall[], parts: Delta['tool_calls'] = []): void {
  for (const part of parts) {
    const call = calls[part.index] ?? { id: '', name: '', arguments: '' };
    calls[part.index] = call;
    call.id += part.id ?? '';
    call.name += part.function?.name ?? '';
    call.arguments += part.function?.arguments ?? '';
  }
}

const asToolCall = ({ id, name, arguments: text }: OpenCall): ToolCall => ({
  id,
  type: 'function',
  function: { name, arguments: text },
});

/** Puts the parts of a stream together; `onText` hears each piece of text as it comes. */
async function assemble(
  chunks: AsyncIterable<Chunk>,
  onText: (text: string) => void,
  price: Price | undefined,
): Promise<Completion> {
  let content = '';
  let finish: string | undefined;
  let usage: Completion['usage'];
  const calls: OpenCall[] = [];
  for await (const chunk of chunks) {
    const choice = chunk.choices?.[0];
    if (choice?.delta?.content) {
      content += choice.delta.content;
      onText(choice.delta.content);
    }
    gatherCalls(calls, choice?.delta?.tool_calls);
    finish = choice?.finish_reason ?? finish;
    if (chunk.usage) usage = usageOf(chunk.usage, price);
  }
  return {
    message: {
      role: 'assistant',
      content: content === '' ? null : content,
      ...(calls.length === 0 ? {} : { tool_calls: calls.map(asToolCall) }),
    },
    ...(usage === undefined ? {} : { usage }),
    ...(finish === undefined ? {} : { finish }),
  };
}

export const chatClient: LlmClient = {
  /** One completion of `request` (a chat-completions body). 429, 5xx and a broken stream are `Unavailable`. */
  async complete(request, call): Promise<Completion> {
    const { url, authorization, price } = endpoint();
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...authorization },
      body: JSON.stringify({ ...(request as object), stream: true, stream_options: { include_usage: true } }),
      signal: call.signal,
    });
    if (!response.ok || response.body === null) {
      const text = `the model's endpoint answered ${response.status}: ${(await response.text()).slice(0, 500)}`;
      throw response.status === 429 || response.status >= 500 ? new Unavailable(text) : new Rejected(text);
    }
    return assemble(chunksOf(response.body), call.onText, price);
  },
};
