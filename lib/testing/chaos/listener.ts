/** What a console's event stream says, from the moment that it is open. */
export class Listener<Message> {
  readonly heard: Message[] = [];
  readonly #end = new AbortController();
  #reading: Promise<void> = Promise.resolve();

  private constructor(readonly onHeard: (message: Message) => void) {}

  /** `query` of `GET /api/v1/stream`; resolves once the console has accepted the connection. */
  static async open<Message>(
    base: string,
    query: string,
    onHeard: (message: Message) => void = () => undefined,
  ): Promise<Listener<Message>> {
    const listener = new Listener<Message>(onHeard);
    const answer = await fetch(`${base}/api/v1/stream${query}`, { signal: listener.#end.signal });
    if (!answer.ok || answer.body === null) throw new Error(`the stream is refused: ${answer.status}`);
    listener.#reading = listener.#read(answer.body).catch(() => undefined);
    return listener;
  }

  /** Resolves when the stream has ended, from whichever side. */
  get ended(): Promise<void> {
    return this.#reading;
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#reading;
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    let text = '';
    const decoder = new TextDecoder();
    const reader = body.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += decoder.decode(part.value, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (data === undefined) continue;
        const message = JSON.parse(data) as Message;
        this.heard.push(message);
        this.onHeard(message);
      }
    }
  }
}
