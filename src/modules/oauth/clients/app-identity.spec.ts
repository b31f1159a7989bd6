import { changedIdentity, NO_IDENTITY } from './app-identity.js';

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
