import { Link } from '@/components/ui/link';
import { type OpenApiDocument, operationsOf, schemaNode, textOf } from '@/lib/client/api-reference';
import { ApiFrame } from './api-frame';
import type { Entry } from './operation-list';
import { OperationView } from './operation-view';
import { Prose } from './prose';
import { SchemaTree } from './schema-tree';

interface ApiPageProps {
  readonly document: OpenApiDocument;
  readonly address: string;
  readonly tokens: boolean;
  /** Which operation, or which schema, and what is searched for. */
  readonly op: string | undefined;
  readonly schema: string | undefined;
  readonly search: string;
}

/** The document of the API for people: what can be asked on the left, one of it on the right. */
export function ApiPage({ document, address, tokens, op, schema, search }: ApiPageProps) {
  const operations = operationsOf(document);
  const { schemas } = document.components;
  const current = operations.find(({ operation }) => operation.operationId === op);
  const entries = operations.map((one): Entry => {
    const { method, path, operation } = one;
    return {
      id: operation.operationId,
      method,
      path,
      summary: operation.summary,
      tag: operation.tags[0] ?? '',
      text: textOf(one),
    };
  });
  return (
    <ApiFrame key={search} entries={entries} current={current?.operation.operationId} search={search}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className="api-detail scroll" aria-label="Detail" tabIndex={0} key={op ?? schema ?? ''}>
        {current !== undefined ? (
          <OperationView of={current} schemas={schemas} address={address} tokens={tokens} />
        ) : schema !== undefined && schemas[schema] !== undefined ? (
          <SchemaView name={schema} document={document} />
        ) : (
          <Overview document={document} unknown={op ?? schema} operations={operations.length} />
        )}
      </section>
    </ApiFrame>
  );
}

function SchemaView({ name, document }: { readonly name: string; readonly document: OpenApiDocument }) {
  const { schemas } = document.components;
  const node = schemaNode({ $ref: `#/components/schemas/${name}` }, schemas);
  const needle = `"#/components/schemas/${name}"`;
  const users = operationsOf(document).filter(({ operation }) => JSON.stringify(operation).includes(needle));
  return (
    <article className="operation">
      <h2 className="mono">{name}</h2>
      <p>
        {node.type}
        {node.notes.map((note) => (
          <code key={note} className="schema-note">
            {note}
          </code>
        ))}
      </p>
      {node.description !== undefined && (
        <p>
          <Prose text={node.description} />
        </p>
      )}
      <SchemaTree node={node} />
      {users.length > 0 && (
        <section>
          <h3>Named by</h3>
          <ul className="plain">
            {users.map(({ operation }) => (
              <li key={operation.operationId}>
                <Link className="link" href={`/api-reference?op=${operation.operationId}`}>
                  {operation.summary}
                </Link>
              </li>
            ))}
          </ul>
        </section>
      )}
    </article>
  );
}

function Overview({
  document,
  unknown,
  operations,
}: {
  readonly document: OpenApiDocument;
  readonly unknown: string | undefined;
  readonly operations: number;
}) {
  const [first = '', ...rest] = document.info.description.split('\n\n');
  return (
    <article className="operation">
      {unknown !== undefined && (
        <p className="note" data-tone="attention" role="alert">
          The API has nothing that is called {unknown}.
        </p>
      )}
      <h2>{document.info.title} API</h2>
      <p>
        <Prose text={first} />
      </p>
      <ul className="bullets">
        {rest
          .join('\n')
          .split('\n')
          .map((line) => (
            <li key={line}>
              <Prose text={line.replace(/^- /, '')} />
            </li>
          ))}
      </ul>
      <p className="second">
        {operations} operations in {document.tags.length} groups. <kbd>/</kbd> searches, <kbd>J</kbd> and{' '}
        <kbd>K</kbd> go from one to the next.
      </p>
      <h3>Groups</h3>
      <dl className="groups">
        {document.tags.map(({ name, description }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="second">{description}</dd>
          </div>
        ))}
      </dl>
    </article>
  );
}
