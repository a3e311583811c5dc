import type { Json } from '@/lib/core/shared/canonical-json';
import { fail, ok, type Result } from '@/lib/core/shared/result';

/* Forms from JSON Schema: flat objects and single values. Anything richer is answered as free JSON. */

export interface Field {
  /** '' for a schema that is a single value. */
  readonly name: string;
  readonly kind: 'boolean' | 'text' | 'number' | 'integer' | 'choice' | 'json';
  readonly title: string;
  readonly hint: string | undefined;
  readonly required: boolean;
  readonly choices: readonly Json[];
  /** As it stands in the form before anybody touches it. */
  readonly initial: string;
}

type Schema = Readonly<Record<string, unknown>>;
const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined);

function kindOf(schema: Schema): Field['kind'] {
  if (Array.isArray(schema['enum'])) return 'choice';
  switch (schema['type']) {
    case 'boolean':
      return 'boolean';
    case 'string':
      return 'text';
    case 'number':
      return 'number';
    case 'integer':
      return 'integer';
    default:
      return 'json';
  }
}

function fieldOf(name: string, schema: Schema, required: boolean, known: unknown): Field {
  const kind = kindOf(schema);
  const start = known === undefined ? schema['default'] : known;
  return {
    name,
    kind,
    title: textOf(schema['title']) ?? (name === '' ? 'Answer' : name),
    hint: textOf(schema['description']),
    required,
    choices: Array.isArray(schema['enum']) ? (schema['enum'] as readonly Json[]) : [],
    initial:
      start === undefined ? '' : kind === 'text' && typeof start === 'string' ? start : JSON.stringify(start),
  };
}

/** Fields for a schema, in its order; a missing schema is one field of free JSON or text. `known` fills them in. */
export function fieldsOf(schema: unknown, known: Readonly<Record<string, unknown>> = {}): readonly Field[] {
  if (!isSchema(schema))
    return [
      {
        name: '',
        kind: 'json',
        title: 'Answer',
        hint: 'JSON; anything else is taken as text',
        required: true,
        choices: [],
        initial: '',
      },
    ];
  const properties = schema['properties'];
  if (!isSchema(properties)) return [fieldOf('', schema, true, undefined)];
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.entries(properties).map(([name, each]) =>
    fieldOf(name, isSchema(each) ? each : {}, required.includes(name), known[name]),
  );
}

/**
 * The field that “Approve” and “Reject” stand for: one that says so itself, is needed, and has no other decision beside
 * it. Of any other yes or no it is not known which of them approves.
 */
export function verdictField(fields: readonly Field[]): Field | undefined {
  const decisions = fields.filter((field) => field.kind === 'boolean' || field.kind === 'choice');
  const [only] = decisions;
  return decisions.length === 1 && only?.kind === 'boolean' && only.required && /^approved?$/i.test(only.name)
    ? only
    : undefined;
}

export interface FieldProblem {
  readonly name: string;
  readonly message: string;
}

function read(field: Field, text: string): Result<Json | undefined, string> {
  if (text === '' && !field.required) return ok(undefined);
  switch (field.kind) {
    case 'text':
      return text === '' && field.required ? fail('is needed') : ok(text);
    case 'boolean':
      return text === 'true' || text === 'false' ? ok(text === 'true') : fail('needs yes or no');
    case 'number':
    case 'integer': {
      const number = Number(text);
      if (text.trim() === '' || !Number.isFinite(number)) return fail('must be a number');
      return field.kind === 'integer' && !Number.isInteger(number)
        ? fail('must be a whole number')
        : ok(number);
    }
    case 'choice': {
      const choice = field.choices.find((each) => JSON.stringify(each) === text);
      return choice === undefined ? fail('needs a choice') : ok(choice);
    }
    case 'json':
      if (text.trim() === '') return fail('is needed');
      try {
        return ok(JSON.parse(text) as Json);
      } catch {
        return field.name === '' ? ok(text) : fail('must be JSON');
      }
  }
}

/** The value that the form's texts stand for, or what is wrong with which field. */
export function formValue(
  fields: readonly Field[],
  texts: Readonly<Record<string, string>>,
): Result<Json, readonly FieldProblem[]> {
  const problems: FieldProblem[] = [];
  const members: Record<string, Json> = {};
  for (const field of fields) {
    const answer = read(field, texts[field.name] ?? field.initial);
    if (!answer.ok) problems.push({ name: field.name, message: `${field.title} ${answer.problem}` });
    else if (answer.value !== undefined) members[field.name] = answer.value;
  }
  if (problems.length > 0) return fail(problems);
  const [only] = fields;
  return ok(fields.length === 1 && only?.name === '' ? (members[''] ?? null) : members);
}
