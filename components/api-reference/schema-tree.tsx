import { Link } from '@/components/ui/link';
import type { SchemaNode } from '@/lib/client/api-reference';
import { Prose } from './prose';

/** What a value is, in one line. `plain`: without links, where the line itself is one thing to press. */
function TypeLine({ node, plain = false }: { readonly node: SchemaNode; readonly plain?: boolean }) {
  const each = node.each?.name;
  const Name = plain ? PlainName : SchemaLink;
  return (
    <>
      <span className="schema-type">
        {node.type}
        {each !== undefined && (
          <>
            {' of '}
            <Name name={each} />
          </>
        )}
      </span>
      {node.name !== undefined && <Name name={node.name} />}
      {node.notes.map((note) => (
        <code key={note} className="schema-note">
          {note}
        </code>
      ))}
      {node.description !== undefined && (
        <span className="second">
          <Prose text={node.description} />
        </span>
      )}
    </>
  );
}

const PlainName = ({ name }: { readonly name: string }) => <span className="mono">{name}</span>;

export const SchemaLink = ({ name }: { readonly name: string }) => (
  <Link className="link mono" href={`/api-reference?schema=${name}`}>
    {name}
  </Link>
);

const holds = (node: SchemaNode): boolean =>
  node.members.length > 0 ||
  node.options.some((option) => holds(option) || option.name !== undefined || option.notes.length > 0) ||
  (node.each !== undefined && (holds(node.each) || node.each.name === undefined));

/** A name for an option: its component, or what tells it from the others. */
function optionName(option: SchemaNode, at: number): string {
  const fixed = option.members.find(({ node }) => node.notes.some((note) => note.startsWith('always ')));
  const word = fixed?.node.notes.find((note) => note.startsWith('always '))?.slice('always '.length);
  return word === undefined ? (option.name ?? `option ${at + 1}`) : `${fixed?.name} ${word}`;
}

/** Members of a schema. What is deeper folds out, without a script. */
export function SchemaTree({ node, open = 1 }: { readonly node: SchemaNode; readonly open?: number }) {
  const only = node.options.length === 1 ? node.options[0] : undefined;
  if (only !== undefined && node.members.length === 0) return <SchemaTree node={only} open={open} />;
  return (
    <ul className="schema">
      {node.members.map(({ name, required, node: member }) => (
        <Row key={name} name={name} required={required} node={member} open={open} />
      ))}
      {node.options.map((option, at) => (
        <Row key={optionName(option, at)} name={optionName(option, at)} option node={option} open={open} />
      ))}
      {node.each !== undefined && (
        <Row name={node.type === 'map' ? 'each by name' : 'each'} option node={node.each} open={open} />
      )}
    </ul>
  );
}

function Row({
  name,
  required,
  option = false,
  node,
  open,
}: {
  readonly name: string;
  readonly required?: boolean;
  readonly option?: boolean;
  readonly node: SchemaNode;
  readonly open: number;
}) {
  const folds = holds(node);
  const line = (
    <>
      <code className={option ? 'schema-option' : 'schema-name'}>{name}</code>
      {required === false && <span className="third">optional</span>}
      <TypeLine node={node} plain={folds} />
    </>
  );
  if (!folds) return <li className="schema-row">{line}</li>;
  const component = node.name ?? node.each?.name;
  return (
    <li>
      <details open={open > 1}>
        <summary className="schema-row">{line}</summary>
        {component !== undefined && (
          <p className="schema-row second">
            on its own: <SchemaLink name={component} />
          </p>
        )}
        <SchemaTree node={node} open={open - 1} />
      </details>
    </li>
  );
}
