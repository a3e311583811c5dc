import { describe, expect, it } from 'vitest';
import { fieldsOf, formValue, verdictField } from './schema-fields';

const approval = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, note: { type: 'string' } },
  required: ['approved'],
};

describe('forms from a schema', () => {
  const yesNo = { type: 'boolean' };
  const object = (properties: object, required: readonly string[]) => ({
    type: 'object',
    properties,
    required,
  });
  it.each([
    ['approved', approval],
    ['approve', object({ approve: yesNo }, ['approve'])],
    [undefined, object({ deny: yesNo }, ['deny'])],
    [undefined, object({ approved: yesNo }, [])],
    [undefined, object({ approved: yesNo, notify: yesNo }, ['approved', 'notify'])],
    [undefined, object({ decision: { enum: ['approve', 'reject'] }, notify: yesNo }, ['decision', 'notify'])],
    [undefined, object({ approved: yesNo, route: { enum: ['a', 'b'] } }, ['approved'])],
    [undefined, object({ approved: { enum: [true, false] } }, ['approved'])],
    [undefined, object({ approved: { type: 'string' } }, ['approved'])],
    [undefined, yesNo],
    [undefined, { type: 'string' }],
    [undefined, undefined],
  ] as const)('puts Approve and Reject on %s of %j', (name, schema) => {
    expect(verdictField(fieldsOf(schema))?.name).toBe(name);
  });

  it('gives the value of the form, without what was left empty', () => {
    expect(formValue(fieldsOf(approval), { approved: 'true', note: '' })).toEqual({
      ok: true,
      value: { approved: true },
    });
    expect(formValue(fieldsOf({ type: 'boolean' }), { '': 'false' })).toEqual({ ok: true, value: false });
  });

  it('names each field that is not complete', () => {
    const fields = fieldsOf({
      type: 'object',
      properties: { n: { type: 'integer' }, of: { enum: ['EUR', 'USD'] } },
      required: ['n', 'of'],
    });
    expect(formValue(fields, { n: '1.5', of: '' })).toEqual({
      ok: false,
      problem: [
        { name: 'n', message: 'n must be a whole number' },
        { name: 'of', message: 'of needs a choice' },
      ],
    });
    expect(formValue(fields, { n: '2', of: '"EUR"' })).toEqual({ ok: true, value: { n: 2, of: 'EUR' } });
  });

  it('takes free JSON where there is no schema, and anything else as text', () => {
    expect(formValue(fieldsOf(undefined), { '': '{"a":1}' })).toEqual({ ok: true, value: { a: 1 } });
    expect(formValue(fieldsOf(undefined), { '': 'go on' })).toEqual({ ok: true, value: 'go on' });
  });
});
