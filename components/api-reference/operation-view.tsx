import { CodeBlock } from '@/components/ui/code-block';
import {
  curlOf,
  type NamedOperation,
  type OpenApiDocument,
  type Parameter,
  refusalOf,
  schemaNode,
} from '@/lib/client/api-reference';
import { Prose } from './prose';
import { SchemaLink, SchemaTree } from './schema-tree';

type Schemas = OpenApiDocument['components']['schemas'];

export function OperationView({
  of,
  schemas,
  address,
  tokens,
}: {
  readonly of: NamedOperation;
  readonly schemas: Schemas;
  readonly address: string;
  readonly tokens: boolean;
}) {
  const { method, path, operation } = of;
  const { parameters = [], requestBody, responses } = operation;
  const answers = Object.entries(responses);
  return (
    <article className="operation" aria-labelledby="operation">
      <h2 id="operation">{operation.summary}</h2>
      <p className="operation-path mono">
        <b className="method" data-method={method}>
          {method}
        </b>{' '}
        {path}
      </p>
      <p>
        <Prose text={operation.description} />
      </p>
      <Needs of={of} />
      <CodeBlock name="cURL" text={curlOf(of, address, tokens)} />
      {parameters.length > 0 && <Parameters parameters={parameters} schemas={schemas} />}
      {requestBody !== undefined && (
        <section>
          <h3>Body</h3>
          {requestBody.description !== undefined && (
            <p>
              <Prose text={requestBody.description} />
            </p>
          )}
          {Object.entries(requestBody.content).map(([type, { schema, example }]) => (
            <div key={type}>
              <p className="media">
                <code>{type}</code> {schema !== undefined && <NameOf schema={schema} schemas={schemas} />}
              </p>
              {schema !== undefined && <SchemaTree node={schemaNode(schema, schemas)} />}
              {example !== undefined && <CodeBlock name="example" text={JSON.stringify(example, null, 2)} />}
            </div>
          ))}
        </section>
      )}
      <section>
        <h3>Answers</h3>
        {answers
          .filter(([status]) => Number(status) < 400)
          .map(([status, { description, content = {}, headers = {} }]) => (
            <div key={status} className="answer">
              <p className="media">
                <b className="num">{status}</b> <Prose text={description} />
              </p>
              {Object.entries(headers).map(([name, header]) => (
                <p key={name} className="media second">
                  <code>{name}</code> {header.description}
                </p>
              ))}
              {Object.entries(content).map(([type, { schema }]) => (
                <div key={type}>
                  <p className="media">
                    <code>{type}</code> {schema !== undefined && <NameOf schema={schema} schemas={schemas} />}
                  </p>
                  {schema !== undefined && <SchemaTree node={schemaNode(schema, schemas)} />}
                </div>
              ))}
            </div>
          ))}
      </section>
      <section>
        <h3>Refusals</h3>
        <p className="second">
          As <code>application/problem+json</code> where nothing else is said; <code>type</code> is{' '}
          <code>urn:rerail:problem:</code> and the kind.
        </p>
        <dl className="refusals">
          {answers
            .filter(([status]) => Number(status) >= 400)
            .map(([status, { description, content = {} }]) => (
              <div key={status}>
                <dt className="num">{status}</dt>
                <dd>
                  <Refusal description={description} problems={'application/problem+json' in content} />
                </dd>
              </div>
            ))}
        </dl>
      </section>
    </article>
  );
}

function Needs({ of: { operation } }: { readonly of: NamedOperation }) {
  const role = operation['x-role'];
  return (
    <p className="second">
      {role === undefined
        ? 'Open to whoever reaches the console.'
        : 'Where the console has tokens, it needs the role '}
      {role !== undefined && <b>{role}</b>}
      {role !== undefined && '.'}
      {operation['x-shared'] && ' A read-only link of the run may ask, too.'}
    </p>
  );
}

function Refusal({ description, problems }: { readonly description: string; readonly problems: boolean }) {
  const { own, kinds } = refusalOf(description, problems);
  return (
    <>
      {own !== undefined && (
        <span>
          <Prose text={own} />
        </span>
      )}
      {kinds.map((kind) => (
        <ProblemLink key={kind} kind={kind} />
      ))}
    </>
  );
}

const ProblemLink = ({ kind }: { readonly kind: string }) => (
  <a
    className="link mono"
    href={`/api-reference?schema=${kind.replaceAll(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase())}Problem`}
  >
    {kind}
  </a>
);

function NameOf({
  schema,
  schemas,
}: {
  readonly schema: Record<string, unknown>;
  readonly schemas: Schemas;
}) {
  const { name } = schemaNode(schema, schemas);
  return name === undefined ? null : <SchemaLink name={name} />;
}

const places = { path: 'In the path', query: 'In the query', header: 'Headers' } as const;

function Parameters({
  parameters,
  schemas,
}: {
  readonly parameters: readonly Parameter[];
  readonly schemas: Schemas;
}) {
  return (['path', 'query', 'header'] as const).map((where) => {
    const here = parameters.filter((one) => one.in === where);
    if (here.length === 0) return null;
    const node = {
      ...schemaNode({ type: 'object' }, schemas),
      members: here.map(({ name, required, schema, description, explode }) => {
        const shown = schemaNode(schema, schemas);
        const list = explode === undefined ? [] : [explode ? 'may be repeated' : 'a,b or repeated'];
        return {
          name,
          required: required || where === 'header',
          node: { ...shown, notes: [...shown.notes, ...list], description: description ?? shown.description },
        };
      }),
    };
    return (
      <section key={where}>
        <h3>{places[where]}</h3>
        <SchemaTree node={node} />
      </section>
    );
  });
}
