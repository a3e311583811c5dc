import { describe, expect, it } from 'vitest';
import { fieldsOf, formValue, verdictField } from './schema-fields';

const approval = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, note: { type: 'string' } },
  required: ['approved'],
};

describe('forms from a schema', () => {
  it('takes the one yes or no as the verdict', () => {
    expect(verdictField(fieldsOf(approval))?.name).toBe('approved');
    expect(verdictField(fieldsOf({ type: 'boolean' }))?.name).toBe('');
    expect(verdictField(fieldsOf({ type: 'string' }))).toBeUndefined();
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
