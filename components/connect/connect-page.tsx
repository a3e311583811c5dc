import { CodeBlock } from '@/components/ui/code-block';
import { Link } from '@/components/ui/link';
import { Arrivals } from './arrivals';
import { type WayId, ways } from './ways';

/** Texts by file name, with this console's address in them. */
type Snippets = Readonly<Record<string, string>>;

interface ConnectProps {
  readonly way: WayId;
  readonly address: string;
  readonly snippets: Snippets;
  /** The console asks for a token. */
  readonly tokens: boolean;
  /** What uploads may be, by name. */
  readonly formats: readonly string[];
}

export function ConnectPage({ way, address, snippets, tokens, formats }: ConnectProps) {
  return (
    <main className="page connect">
      <header className="page-head">
        <h1>Connect</h1>
        <span className="second">
          This console is <code>{address}</code>
        </span>
      </header>
      <nav className="tabs" aria-label="Ways to connect">
        {ways.map(({ id, name, what }) => (
          <Link
            key={id}
            href={`/connect?via=${id}`}
            aria-current={id === way ? 'true' : undefined}
            title={what}
          >
            {name}
          </Link>
        ))}
      </nav>
      <div className="connect-body">
        <div className="connect-steps">
          {tokens && <Token text={snippets['token.sh'] ?? ''} />}
          <Way way={way} snippets={snippets} tokens={tokens} formats={formats} />
        </div>
        <Arrivals way={way} />
      </div>
    </main>
  );
}

function Token({ text }: { readonly text: string }) {
  return (
    <section aria-label="Token">
      <p>
        This console asks for a token. All of the below reads it from the environment; put one in whose role
        is at least <b>operator</b>.
      </p>
      <CodeBlock name="token" text={text} />
    </section>
  );
}

function Way({
  way,
  snippets,
  tokens,
  formats,
}: {
  readonly way: WayId;
  readonly snippets: Snippets;
  readonly tokens: boolean;
  readonly formats: readonly string[];
}) {
  const code = (name: string, note?: string) => (
    <CodeBlock name={name} text={snippets[name] ?? ''} {...(note === undefined ? {} : { note })} />
  );
  switch (way) {
    case 'sdk':
      return (
        <>
          <p>
            For an agent that shall be resumed after a crash, replayed, and kept from paying twice. Declare it
            as a state machine; every call of its tools is recorded, and the console can hand the run to a
            worker again.
          </p>
          {code('agent.ts', 'what the agent is')}
          {code('worker.ts', 'who runs it')}
          {code('sdk-install.sh', 'install, compile, run')}
        </>
      );
    case 'otlp':
      return (
        <>
          <p>
            For an agent that is traced already. A trace becomes a run, visible from its first span, to be
            looked at: it names no machine that a worker could have, so it can be neither resumed nor forked
            or replayed here. Any OTLP/HTTP exporter will do, protobuf or JSON.
          </p>
          {code('otlp.sh', 'where spans go')}
          {tokens && code('otlp-token.sh', 'with the token')}
          {code('ai-sdk.ts', 'the Vercel AI SDK, for instance')}
          <p className="second">
            Understood are the GenAI semantic conventions and the AI SDK’s spans. Other spans are kept, and
            shown as steps.
          </p>
        </>
      );
    case 'http':
      return (
        <>
          <p>
            For every other language: create a run, append its events, give it back. This is all of it, in
            Python without a package. The calls are described under <Link href="/api-reference">API</Link>.
          </p>
          {code('agent.py', 'python3 agent.py')}
        </>
      );
    case 'upload':
      return (
        <>
          <p>
            Drop a file on any page of the console, or send it. What could not be read is told, each with its
            place; the same file again doubles nothing.
          </p>
          {code('upload.sh')}
          <p>Read are:</p>
          <ul className="connect-formats">
            {formats.map((format) => (
              <li key={format}>{format}</li>
            ))}
          </ul>
        </>
      );
  }
}
