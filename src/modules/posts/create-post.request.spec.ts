import { fieldErrorsOf, rejectionOf, violationsOf } from '../../../test/support/field-errors.js';
import { RequestPipe } from '../../platform/http/validation/request.pipe.js';
import { CreatePostRequest } from './create-post.request.js';

const EMOJI = '\u{1f600}';
const urlOfLength = (length: number) => `https://example.com/${'a'.repeat(length - 20)}`;

async function validate(body: unknown): Promise<CreatePostRequest> {
  const metadata = { type: 'body', metatype: CreatePostRequest } as const;
  return (await new RequestPipe().transform(body, metadata)) as CreatePostRequest;
}

async function draftOf(body: unknown): Promise<object> {
  return (await validate(body)).toDraft();
}

/** The draft of a request with a content and these fields, without the content. */
async function keptFields(fields: object): Promise<object> {
  const { content: _, ...kept } = (await validate({ content: 'x', ...fields })).toDraft();
  return kept;
}

/** The violations of a request with a content and these fields. */
function violationsWith(fields: object): Promise<string[]> {
  return violationsOf(validate({ content: 'x', ...fields }));
}

/** Parses the JSON text of an object, and adds a content to its fields. `JSON.parse` reads 1e400 as Infinity. */
function bodyOf(fields: string): unknown {
  return JSON.parse(fields.replace('{', '{"content":"x",'));
}

describe('CreatePostRequest: required fields', () => {
  it.each([
    {},
    { type: 'general' },
    { tags: ['a'] },
    { images: [] },
    { title: null, content: null, images: null },
    { latitude: 1, longitude: 1 },
  ])('C63 rejects %j: no title, content or image', async (body) => {
    const { message, extras } = await rejectionOf(validate(body));
    expect(message).toBe('Send at least one of: title, content, images.');
    expect(extras.errors).toEqual([{ field: '', code: 'one_of_required', message }]);
  });

  it.each([
    { title: 'T' },
    { content: 'C' },
    { images: ['https://example.com/a.jpg'] },
    { content: 'a', images: [], tags: [] },
  ])('C64 accepts %j and keeps it', async (body) => {
    expect(await draftOf(body)).toStrictEqual(body);
  });

  it('C62 treats null like an absent field', async () => {
    expect(await violationsOf(validate({ content: null }))).toEqual(['one_of_required']);
    const fields = 'title type images tags latitude longitude reachKm visibility'.split(' ');
    const nulls = Object.fromEntries(fields.map((field) => [field, null]));
    expect(await draftOf({ content: 'a', ...nulls })).toStrictEqual({ content: 'a' });
  });
});

describe.each([
  ['title', 300],
  ['content', 10_000],
] as const)('CreatePostRequest: %s', (field, max) => {
  it.each([123, true, {}, [], ['a']])('C62 rejects %j: wrong type', (value) =>
    expect(violationsWith({ [field]: value })).resolves.toEqual([`${field} wrong_type`]),
  );

  it.each([
    '',
    ' ',
    '   ',
    '\t\n',
    '\u200b',
    '\u3164',
    '\u2800',
    '\u00a0',
    '\u2060',
    '\ufeff',
    '\u115f\u1160\uffa0',
  ])('C63 rejects %j: no visible character', async (value) => {
    const code = field === 'title' && value === '\t\n' ? 'control_character' : 'blank';
    expect(await violationsOf(validate({ [field]: value }))).toEqual([`${field} ${code}`]);
  });

  it.each(['a', '\u00e9', EMOJI])(
    `C65 C70 accepts ${max} times %s and rejects one more`,
    async (letter) => {
      const longest = letter.repeat(max);
      expect(await draftOf({ [field]: longest })).toStrictEqual({ [field]: longest });
      expect(await violationsOf(validate({ [field]: longest + letter }))).toEqual([
        `${field} too_long`,
      ]);
    },
  );

  it('C65 counts variation selectors and combining marks like other characters', async () => {
    for (const pair of ['a\ufe0f', 'e\u0301', '\u{1f44d}\u{1f3fd}']) {
      const longest = pair.repeat(max / 2);
      expect(await draftOf({ [field]: longest })).toStrictEqual({ [field]: longest });
      for (const longer of [`${longest}a`, pair.repeat(max)])
        expect(await violationsOf(validate({ [field]: longer }))).toEqual([`${field} too_long`]);
    }
  });

  it.each(['\ud800', '\udc00x', 'a\udc00x', '\ud83d \ude00'])(
    'C67 rejects %j: half a surrogate pair',
    (value) =>
      expect(violationsWith({ [field]: value })).resolves.toEqual([`${field} not_well_formed`]),
  );

  it.each(['\u0000', 'a\u0000b', 'a\u0008', '\u001ba', 'a\u001f', 'a\u007f'])(
    'C68 rejects %j: control character',
    (value) =>
      expect(violationsWith({ [field]: value })).resolves.toEqual([`${field} control_character`]),
  );
});

describe('CreatePostRequest: line breaks and tabs', () => {
  it.each(['a\nb', 'a\r\nb', 'a\rb', 'a\tb', 'a\u2028b', 'a\u2029b', 'a\u0085b', 'a\n'])(
    'C70 rejects the title %j: line break or tab',
    (title) => expect(violationsWith({ title })).resolves.toEqual(['title control_character']),
  );

  it.each(['a\tb', 'a\nb', 'a\r\nb', '\ta\nb\r\nc\rd\u2028e'])(
    'C68 accepts the content %j',
    (content) => expect(draftOf({ content })).resolves.toStrictEqual({ content }),
  );
});

describe('CreatePostRequest: type', () => {
  it.each(['general', 'a', 'for_sale', 'lost-and-found2', 'a'.repeat(32)])(
    'C77 accepts %s',
    (type) => expect(keptFields({ type })).resolves.toStrictEqual({ type }),
  );

  it.each(['', 'For Sale', 'A', '1a', '-a', '_a', 'a.b', 'a ', 'a\n', '\u00e9', 'a'.repeat(33)])(
    'C77 rejects %j: invalid format',
    (type) => expect(violationsWith({ type })).resolves.toEqual(['type invalid_format']),
  );

  it.each([1, [], {}, true])('C77 rejects %j: wrong type', (type) =>
    expect(violationsWith({ type })).resolves.toEqual(['type wrong_type']),
  );
});

describe('CreatePostRequest: visibility', () => {
  it.each(['public', 'neighborhood', 'private'])('C77 accepts %s', (visibility) =>
    expect(keptFields({ visibility })).resolves.toStrictEqual({ visibility }),
  );

  it.each(['PUBLIC', 'public ', '\u0440ublic', '', 'friends'])(
    'C77 rejects %j and lists the allowed values',
    async (visibility) => {
      expect(await fieldErrorsOf(validate({ content: 'x', visibility }))).toEqual([
        {
          field: 'visibility',
          code: 'not_allowed_value',
          message: 'visibility must be one of: public, neighborhood, private.',
        },
      ]);
    },
  );

  it.each([1, [], ['public']])('C77 rejects %j: wrong type', (visibility) =>
    expect(violationsWith({ visibility })).resolves.toEqual(['visibility wrong_type']),
  );
});

describe('CreatePostRequest: tags', () => {
  it.each([
    [[]],
    [['Block party']],
    [['A', 'a']],
    [['a', 'a']],
    [[' kept ']],
    [Array.from({ length: 20 }, () => EMOJI.repeat(50))],
    [['"quoted"', '\\', "'", '</script>']],
  ])('C71 accepts %j', (tags) => expect(keptFields({ tags })).resolves.toStrictEqual({ tags }));

  it.each([
    ['x', 'wrong_type'],
    [{ 0: 'a' }, 'wrong_type'],
    [[1], 'wrong_type'],
    [[null], 'wrong_type'],
    [[['a']], 'wrong_type'],
    [[''], 'blank'],
    [['a', '  '], 'blank'],
    [['a\u0000b'], 'control_character'],
    [['a\nb'], 'control_character'],
    [['\ud800'], 'not_well_formed'],
    [Array.from({ length: 21 }, () => 'a'), 'too_many'],
    [['a'.repeat(51)], 'too_long'],
    [[EMOJI.repeat(51)], 'too_long'],
  ])('C71 rejects %j: %s', (tags, code) =>
    expect(violationsWith({ tags })).resolves.toEqual([`tags ${code}`]),
  );

  it('C71 names the invalid tag in the message', async () => {
    expect(await fieldErrorsOf(validate({ content: 'x', tags: ['fine', ' '] }))).toEqual([
      { field: 'tags', code: 'blank', message: 'tags[1] must not be blank.' },
    ]);
  });
});

describe('CreatePostRequest: images', () => {
  // `rules.spec.ts` has more URLs.
  it.each([
    'https://example.com/a.jpg',
    'HTTPS://EXAMPLE.COM/A?b=c#d',
    'https://b\u00fccher.example/\u{1f600}.jpg',
    urlOfLength(2048),
    `https://example.com/${EMOJI.repeat(1000)}${'a'.repeat(1028)}`,
  ])('C72 accepts %s', (image) =>
    expect(keptFields({ images: [image] })).resolves.toStrictEqual({ images: [image] }),
  );

  it.each([
    ['https://example.com/a', 'wrong_type'],
    [[1], 'wrong_type'],
    [[null], 'wrong_type'],
    [[''], 'invalid_format'],
    [['/a.jpg'], 'invalid_format'],
    [['javascript:alert(1)'], 'invalid_format'],
    [['data:image/png;base64,AA=='], 'invalid_format'],
    [['https://user:secret@example.com/a'], 'invalid_format'],
    [['https://example.com/\n'], 'invalid_format'],
    [['https://example.com/a\r\nb'], 'invalid_format'],
    [['https://example.com/\u0000'], 'control_character'],
    [['https://example.com/\ud800'], 'not_well_formed'],
    [[urlOfLength(2049)], 'too_long'],
    [[`https://example.com/${EMOJI.repeat(1001)}`], 'invalid_format'],
    [Array.from({ length: 11 }, () => 'https://example.com/a'), 'too_many'],
  ])('C72 rejects %j: %s', (images, code) =>
    expect(violationsWith({ images })).resolves.toEqual([`images ${code}`]),
  );
});

describe('CreatePostRequest: latitude and longitude', () => {
  it.each([
    [90, 180],
    [-90, -180],
    [0, 0],
    [-0, -0],
    [5e-324, 179.999_999_999_999_97],
  ])('C73 accepts %d, %d', async (latitude, longitude) => {
    const body = { content: 'x', latitude, longitude };
    expect(await draftOf(body)).toStrictEqual(body);
  });

  it.each([
    ['{"latitude":90.0000001,"longitude":0}', 'latitude too_large'],
    ['{"latitude":-90.0000001,"longitude":0}', 'latitude too_small'],
    ['{"latitude":0,"longitude":180.0000001}', 'longitude too_large'],
    ['{"latitude":0,"longitude":-180.0000001}', 'longitude too_small'],
    ['{"latitude":1e400,"longitude":0}', 'latitude too_large'],
    ['{"latitude":0,"longitude":-1e400}', 'longitude too_small'],
    ['{"latitude":"1","longitude":0}', 'latitude wrong_type'],
    ['{"latitude":true,"longitude":0}', 'latitude wrong_type'],
    ['{"latitude":[1],"longitude":0}', 'latitude wrong_type'],
    ['{"latitude":{},"longitude":0}', 'latitude wrong_type'],
  ])('C73 rejects %s: %s', async (fields, violation) => {
    expect(await violationsOf(validate(bodyOf(fields)))).toEqual([violation]);
  });

  it.each([
    ['{"latitude":1}', 'longitude', 'latitude'],
    ['{"longitude":1}', 'latitude', 'longitude'],
    ['{"latitude":null,"longitude":1}', 'latitude', 'longitude'],
    ['{"latitude":1,"longitude":null}', 'longitude', 'latitude'],
  ])('C73 C74 rejects %s: %s is missing', async (fields, missing, present) => {
    expect(await fieldErrorsOf(validate(bodyOf(fields)))).toEqual([
      {
        field: missing,
        code: 'pair_required',
        message: `${missing} is missing: it must be sent together with ${present}.`,
      },
    ]);
  });

  it('C74 reports a missing coordinate and the violation of the other one', async () => {
    expect(await violationsOf(validate(bodyOf('{"latitude":91}')))).toEqual([
      'latitude too_large',
      'longitude pair_required',
    ]);
    expect(await violationsOf(validate(bodyOf('{"longitude":"x"}')))).toEqual([
      'latitude pair_required',
      'longitude wrong_type',
    ]);
  });
});

describe('CreatePostRequest: reachKm', () => {
  it.each([0.001, 0.1 + 0.2, 1, 2.5, 99.999_999_999_999_99, 100])('C76 accepts %d', (reachKm) =>
    expect(keptFields({ reachKm })).resolves.toStrictEqual({ reachKm }),
  );

  it.each([
    ['0', 'too_small'],
    ['-1', 'too_small'],
    ['0.0009999', 'too_small'],
    ['1e-320', 'too_small'],
    ['100.0001', 'too_large'],
    ['1e400', 'too_large'],
    ['"1"', 'wrong_type'],
    ['[]', 'wrong_type'],
  ])('C76 rejects %s: %s', async (value, code) => {
    expect(await violationsOf(validate(bodyOf(`{"reachKm":${value}}`)))).toEqual([
      `reachKm ${code}`,
    ]);
  });
});
