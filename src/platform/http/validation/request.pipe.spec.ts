import { fieldErrorsOf, rejectionOf, violationsOf } from '../../../../test/support/field-errors.js';
import { NumberField, TextField, RequestSchema } from './fields.js';
import { RequestPipe } from './request.pipe.js';

@RequestSchema({ name: 'Sample', description: 'A sample.', atLeastOneOf: ['title', 'content'] })
class Sample {
  @TextField({ max: 10, description: 'Title.', example: 'Party' })
  title?: string | null;

  @TextField({ max: 10, description: 'Content.', example: 'Party' })
  content?: string | null;

  @NumberField({ min: 0, max: 9, description: 'Latitude.', example: 1 })
  latitude?: number | null;

  toDraft(): object {
    return { ...this };
  }
}

const validate = (value: unknown, type: 'body' | 'query' | 'param' = 'body') =>
  new RequestPipe().transform(value, { type, metatype: Sample });

/** Nested objects as JSON text, each the only member of the object around it. */
const objects = (levels: number) => '{"a":'.repeat(levels - 1) + '{}' + '}'.repeat(levels - 1);
const arrays = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

describe('RequestPipe', () => {
  it('returns the fields as an instance of the request class', async () => {
    const request = await validate({ title: 'a', latitude: 1 });
    expect(request).toBeInstanceOf(Sample);
    expect(request).toMatchObject({ title: 'a', latitude: 1 });
  });

  it('ignores unknown parameters of a query', async () => {
    expect(await validate({ title: 'a', 'page[]': '2' }, 'query')).toMatchObject({ title: 'a' });
  });

  it('returns path parameters unchanged', async () => {
    expect(await validate('x', 'param')).toBe('x');
  });

  it.each([
    ['20 levels of objects', objects(20), ['one_of_required', 'a unknown_field']],
    ['20 levels of arrays', `{"a":${arrays(19)}}`, ['one_of_required', 'a unknown_field']],
    ['21 levels of objects', objects(21), ['too_deep']],
    ['21 levels of arrays', `{"a":${arrays(20)}}`, ['too_deep']],
    ['21 levels in a declared field', `{"content":"a","title":${arrays(20)}}`, ['too_deep']],
    ['50,000 levels of objects', objects(50_000), ['too_deep']],
    ['50,000 levels of arrays', `{"title":${arrays(50_000)}}`, ['too_deep']],
  ])('C56 checks the depth of %s before the fields', async (_, text, violations) => {
    expect(await violationsOf(validate(JSON.parse(text)))).toEqual(violations);
  });
});

describe('RequestPipe: unknown fields', () => {
  it('C57 lists at most 20 violations and shortens long names', async () => {
    const names = Array.from({ length: 3000 }, (_, i) => `latitud${'e'.repeat(50)}${i}`);
    const body = Object.fromEntries(names.map((name) => [name, 1]));
    const { message, extras } = await rejectionOf(validate({ content: 'a', ...body }));
    expect(message).toMatch(/^At least 20 fields are invalid: /);
    expect(extras.errors).toHaveLength(20);
    for (const error of extras.errors ?? []) {
      expect(error.field).toHaveLength(50);
      expect(error.message.length).toBeLessThan(300);
    }
  });

  it.each(['\ud800', `${'a'.repeat(49)}\u{1f600}`, `${'a'.repeat(50)}\u{1f600}`])(
    'C57 C67 reports the unknown field %j with a name of well-formed text',
    async (name) => {
      const [error] = await fieldErrorsOf(validate({ content: 'a', [name]: 1 }));
      expect(error).toMatchObject({
        field: [...name.toWellFormed()].slice(0, 50).join(''),
        code: 'unknown_field',
      });
      expect(error?.message.isWellFormed()).toBe(true);
    },
  );

  it.each(['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', 'valueOf'])(
    'C59 rejects a member %s at any depth and leaves prototypes unchanged',
    async (name) => {
      const member = `"${name}":{"polluted":true}`;
      for (const text of [
        `{"content":"a",${member}}`,
        `{"content":{${member}}}`,
        `{"content":"a","title":[{${member}}]}`,
        `{"a":{${member}}}`,
      ])
        expect(await violationsOf(validate(JSON.parse(text)))).toEqual([`${name} unknown_field`]);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
      expect('polluted' in Object).toBe(false);
    },
  );

  it('C59 rejects a member with the name of a method of the request class', async () => {
    expect(await violationsOf(validate({ content: 'a', toDraft: 1 }))).toEqual([
      'toDraft unknown_field',
    ]);
  });

  it.each([
    ['latitiude', ' Did you mean latitude?'],
    ['Content', ' Did you mean content?'],
    ['colour', ''],
  ])(
    'C61 rejects the unknown field %s with the suggestion "%s" and the list of known fields',
    async (name, hint) => {
      expect(await fieldErrorsOf(validate({ content: 'a', [name]: 1 }))).toEqual([
        {
          field: name,
          code: 'unknown_field',
          message: `"${name}" is not a field of this body.${hint} Its fields are: title, content, latitude.`,
        },
      ]);
    },
  );

  it('C61 lists violations of known fields before unknown fields', async () => {
    expect(await violationsOf(validate({ colour: 1, latitude: 91 }))).toEqual([
      'latitude too_large',
      'one_of_required',
      'colour unknown_field',
    ]);
  });
});
