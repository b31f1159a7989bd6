import {
  validAppName,
  validPublisher,
  changedIdentity,
  NO_IDENTITY,
} from './registration-values.js';

describe('validAppName', () => {
  it.each([
    'Garden Share',
    ' Jardín & Café ',
    '庭の共有',
    'حديقة',
    'बगीचा',
    'Garden 🌻',
    'ß',
    "'><b>",
    '🌻'.repeat(60),
  ])('O164 accepts "%s", trimmed', (name) => {
    expect(validAppName(name)).toBe(name.trim());
  });

  it.each(['', ' ', '\u3000', 'x'.repeat(61), '🌻'.repeat(61)])(
    'O164 rejects the length of "%.9s"',
    (name) => {
      expect(() => validAppName(name)).toThrow('The name must have 1 to 60 characters.');
    },
  );

  it('O164 rejects such a publisher, and names it in the error', () => {
    expect(validPublisher(' Garden Share Ltd ')).toBe('Garden Share Ltd');
    expect(() => validPublisher('x'.repeat(61))).toThrow('The publisher must have 1 to 60');
    expect(() => validPublisher('Gar\u200bden')).toThrow('The publisher contains U+200B');
  });

  it.each([
    ['a control character', 'Gar\u001b[31mden', 'U+001B'],
    ['a C1 control character', 'Gar\u009bden', 'U+009B'],
    ['a line break', 'Garden\nShare', 'U+000A'],
    ['a line separator', 'Garden\u2028Share', 'U+2028'],
    ['a soft hyphen', 'Gar\u00adden', 'U+00AD'],
    ['a direction override', 'Garden \u202efdp', 'U+202E'],
    ['a direction mark', 'Garden\u200f!', 'U+200F'],
    ['a direction isolate', 'Garden \u2066x', 'U+2066'],
    ['a zero-width space', 'Gar\u200bden', 'U+200B'],
    ['a zero-width joiner', '👨\u200d👩', 'U+200D'],
    ['a word joiner', 'Gar\u2060den', 'U+2060'],
    ['a byte order mark', 'Gar\ufeffden', 'U+FEFF'],
    ['a variation selector', '☕\ufe0f', 'U+FE0F'],
    ['a Hangul filler', 'Gar\u3164den', 'U+3164'],
    ['a blank Braille pattern', 'Gar\u2800den', 'U+2800'],
    ['a tag', 'Garden\u{e0041}', 'U+E0041'],
    ['a private-use character', 'Garden\ue000', 'U+E000'],
    ['an unassigned character', 'Garden\u0378', 'U+0378'],
    ['a lone surrogate', 'Garden\ud800', 'U+D800'],
  ])('O164 rejects %s and names it', (_title, name, codePoint) => {
    expect(() => validAppName(name)).toThrow(`The name contains ${codePoint}, which is`);
  });
});

const GARDEN = { ...NO_IDENTITY, publisher: 'Garden Ltd' };
const VERIFIED = { ...GARDEN, isVerified: true };
const NEEDS_PUBLISHER = 'A verified app needs a publisher. Add --publisher.';

describe('changedIdentity', () => {
  it.each([
    ['a first publisher', NO_IDENTITY, { publisher: 'Garden Ltd' }, false],
    ['a verified first publisher', NO_IDENTITY, { publisher: 'Shed', isVerified: true }, true],
    ['the verification of the stored publisher', GARDEN, { isVerified: true }, true],
    ['the publisher of an unverified app', GARDEN, { publisher: 'Shed Ltd' }, false],
    ['other values of a verified app', VERIFIED, { homepageUrl: null, logoHash: 'x' }, true],
    ['the same publisher again', VERIFIED, { publisher: 'Garden Ltd' }, true],
    ['another publisher', VERIFIED, { publisher: 'garden ltd' }, false],
    ['another, verified publisher', VERIFIED, { publisher: 'Shed', isVerified: true }, true],
    ['no publisher', VERIFIED, { publisher: null }, false],
    ['the end of the verification', VERIFIED, { isVerified: false }, false],
  ])('O168 decides the verification after %s', (_title, before, changes, isVerified) => {
    expect(changedIdentity(before, changes)).toEqual({ ...before, ...changes, isVerified });
  });

  it.each([
    ['never had one', NO_IDENTITY, { isVerified: true }],
    ['loses it', VERIFIED, { isVerified: true, publisher: null }],
  ])(
    'O168 rejects the verification of an app without a publisher, if it %s',
    (_if, before, changes) => {
      expect(() => changedIdentity(before, changes)).toThrow(NEEDS_PUBLISHER);
    },
  );
});
