import { type ServiceAnswer, type ServiceRequest, serve } from './serve';

/*
 * A chat-completions endpoint that always says the same to the same conversation, whole or as a stream. Tool-call ids
 * differ on every attempt, as they do with real providers. `/control/faults` makes it answer 429, 500, or hang.
 */

interface ChatMessage {
  readonly role: string;
  readonly content?: string | null;
}
interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly stream?: boolean;
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}
interface Reply {
  readonly content: string | null;
  readonly call?: { readonly name: string; readonly arguments: string };
}

let calls = 0;

const orderIn = (request: ChatRequest): string =>
  /ORD-\d+/.exec(request.messages.map((message) => message.content ?? '').join('\n'))?.[0] ?? 'ORD-1001';

function replyTo(request: ChatRequest): Reply {
  const order = orderIn(request);
  if (request.tools?.some((tool) => tool.function.name === 'search_orders') === true) {
    return { content: null, call: { name: 'search_orders', arguments: JSON.stringify({ order_id: order }) } };
  }
  const facts = request.messages.at(-1)?.content ?? '';
  const amount = /amount: ([\d.]+ [A-Z]{3})/.exec(facts)?.[1];
  const name = /customer: (.+)/.exec(facts)?.[1] ?? 'customer';
  return {
    content:
      amount === undefined
        ? `Dear ${name},\n\nwe looked at your request for order ${order} with care. Our policy does not allow a refund in this case.\n\nYour refund desk`
        : `Dear ${name},\n\nwe have refunded ${amount} for order ${order}. It reaches your account within three working days.\n\nYour refund desk`,
  };
}

const tokensOf = (text: string) => Math.ceil(text.length / 4);

function usageOf(request: ChatRequest, reply: Reply) {
  const prompt = request.messages.reduce((sum, message) => sum + tokensOf(message.content ?? ''), 0);
  const completion = tokensOf(reply.content ?? reply.call?.arguments ?? '');
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

function streamed(request: ChatRequest, reply: Reply, id: string): ServiceAnswer {
  const finish = reply.call === undefined ? 'stop' : 'tool_calls';
  const callId = `call_${id}`;
  const deltas: readonly object[] =
    reply.call === undefined
      ? (reply.content ?? '').split(/(?<= )/).map((content) => ({ content }))
      : [
          {
            tool_calls: [
              { index: 0, id: callId, type: 'function', function: { name: reply.call.name, arguments: '' } },
            ],
          },
          { tool_calls: [{ index: 0, function: { arguments: reply.call.arguments } }] },
        ];
  const frame = (body: object) =>
    `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', model: request.model, ...body })}\n\n`;
  return {
    write: async (response, closed) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const delta of [{ role: 'assistant' }, ...deltas]) {
        if (closed.aborted) return;
        response.write(frame({ choices: [{ index: 0, delta, finish_reason: null }] }));
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.write(
        frame({ choices: [{ index: 0, delta: {}, finish_reason: finish }], usage: usageOf(request, reply) }),
      );
      response.end('data: [DONE]\n\n');
    },
  };
}

function whole(request: ChatRequest, reply: Reply, id: string): ServiceAnswer {
  const message =
    reply.call === undefined
      ? { role: 'assistant', content: reply.content }
      : {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: `call_${id}`, type: 'function', function: reply.call }],
        };
  const choice = { index: 0, message, finish_reason: reply.call === undefined ? 'stop' : 'tool_calls' };
  return {
    status: 200,
    body: {
      id,
      object: 'chat.completion',
      model: request.model,
      choices: [choice],
      usage: usageOf(request, reply),
    },
  };
}

function complete(asked: ServiceRequest): ServiceAnswer {
  const request = JSON.parse(asked.text) as ChatRequest;
  const reply = replyTo(request);
  calls += 1;
  const id = `${process.pid}-${calls}`;
  return request.stream === true ? streamed(request, reply, id) : whole(request, reply, id);
}

serve((request) =>
  request.method === 'POST' && request.url.pathname === '/v1/chat/completions'
    ? complete(request)
    : { status: 404, body: { error: { message: 'no such path' } } },
);
