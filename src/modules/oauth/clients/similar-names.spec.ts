import type { AppConfig } from '../../../platform/config/app-config.js';
import { appNameKey, lookAlike, resemblanceOf } from './similar-names.js';

describe('appNameKey', () => {
  it.each([
    ['letter case', 'GARDEN SHARE INFO'],
    ['white space', '  garden\u00a0  share\u3000info'],
    ['missing white space', 'GardenShareInfo'],
    ['punctuation', 'Garden-Share: Info.'],
    ['a middle dot', 'Garden\u00b7Share Info'],
    ['symbols', 'Garden + Share Info \u00ae\u{1f33b}'],
    ['accents', 'G\u00e4rde\u0144 Share Info'],
    ['a dot below', 'Garde\u1e47 Share Info'],
    ['a stroke', 'Garden\u0336 Share Info'],
    ['letters with a stroke', 'Garden Share Inf\u00f8'],
    ['small capitals', '\u0262\u1d00\u0280\u1d05\u1d07\u0274 Share Info'],
    ['Cyrillic letters that look like small capitals', 'Garde\u0274 S\u043dare Info'],
    ['Cyrillic letters', 'G\u0430rden Sh\u0430r\u0435 \u0406nfo'],
    ['Greek letters', 'Garden Share \u0399nf\u03bf'],
    ['full-width letters', '\uff27arden Share Info'],
    ['mathematical letters', '\u{1d4d6}arden Share Info'],
    ['digits for letters', 'Garden Share 1nf0'],
    ['a lowercase L for an uppercase I', 'Garden Share lnfo'],
  ])('O164 ignores %s', (_title, name) => {
    expect(appNameKey(name)).toBe(appNameKey('Garden Share Info'));
  });

  it.each([
    ['Rodem', 'Rodern'],
    ['RODEM', 'Rodern'],
    ['Wave', 'VVave'],
    ['Wave', 'vvave'],
  ])('O164 treats "%s" like "%s"', (one, other) => {
    expect(appNameKey(one)).toBe(appNameKey(other));
  });

  it.each(['Garden Share', 'Garden Share Info 2', 'Garden Share Support', '庭の共有', '🌻'])(
    'O164 distinguishes "%s"',
    (name) => {
      expect(appNameKey(name)).not.toBe(appNameKey('Garden Share Info'));
    },
  );

  it('O164 distinguishes names without letters and digits', () => {
    expect(appNameKey('🌻')).not.toBe(appNameKey('🌷'));
    expect(appNameKey('+')).not.toBe(appNameKey('++'));
  });
});

describe('lookAlike', () => {
  it.each([
    ['a trademark', 'Rose\u2122'],
    ['a service mark', 'Rose\u2120'],
    ['a registered sign', 'Rose\u00ae'],
    ['a trademark in ASCII', 'Rose (TM)'],
    ['an ordinal', 'Rose\u00aa'],
    ['a circled digit', 'Rose\u2461'],
    ['a negative circled digit', 'Rose\u2777'],
    ['a superscript digit', 'Rose\u00b2'],
    ['a subscript digit', 'Rose\u2082'],
    ['raised letters', 'Rose\u1d40\u1d39'],
    ['two signs', 'Rose \u2461\u2122'],
    ['circled letters', '\u24c7\u24de\u24e2\u24d4'],
    ['one circled letter', '\u24c7ose'],
    ['full-width letters', '\uff32\uff4f\uff53\uff45'],
  ])('O164 ignores %s', (_title, name) => {
    expect(lookAlike(name, 'Rose')).toBe(true);
    expect(lookAlike('Rose', name)).toBe(true);
  });

  it.each([
    ['Rose', 'Rose 2'],
    ['Rose', 'Rosea'],
    ['Rose', 'Rose TM'],
    ['\u24c7', 'Rose'],
    ['\u30b5\u30fc\u30d0\u30fc', '\u30b5\u30d0'],
    ['\u{1f33b}', '\u{1f337}'],
  ])('O164 distinguishes "%s" and "%s"', (one, other) => {
    expect(lookAlike(one, other)).toBe(false);
  });
});

const NETWORK = { brand: { name: 'Oak Street' } } as AppConfig;
const UNNAMED = { brand: {} } as AppConfig;
const ROSE = { clientId: 'rose', name: 'Rose', publisher: 'Rose Ltd', isVerified: true };

describe('resemblanceOf', () => {
  /** What a new app resembles, beside the app Rose. */
  function similarTo(
    app: { name: string; publisher?: string; isVerified?: boolean },
    config = NETWORK,
  ): string | undefined {
    const named = { clientId: 'new', publisher: null, isVerified: false, ...app };
    return resemblanceOf(named, ['name', 'publisher'], [ROSE], config)?.similarTo;
  }

  it.each([
    ['another app', 'ROSE\u2122', 'rose'],
    ['the publisher of another app', 'R\u043ese Ltd.', 'rose'],
    ['the network', 'Oak-Street\u00ae', 'network'],
    ['the badge', 'Garden, verified by Oak Street', 'verification'],
    ['the badge in Spanish', 'Jard\u00edn verificado', 'verification'],
    ['the badge with other letters', 'Garden V\u0435rified', 'verification'],
    ['the check mark of the badge', 'Garden \u2713', 'verification'],
  ])('O164 finds a name like that of %s', (_title, name, found) => {
    expect(similarTo({ name })).toBe(found);
  });

  it('O164 compares with the name of the network in each language, if the operator has set none', () => {
    expect(similarTo({ name: 'red  vecinal' }, UNNAMED)).toBe('network');
    expect(similarTo({ name: 'Neighbourhood Network' }, UNNAMED)).toBe('network');
    expect(similarTo({ name: 'Red vecinal' })).toBeUndefined();
  });

  it('O164 finds a publisher like the network or the badge, but not like the publisher of another app', () => {
    const name = 'Garden';
    expect(similarTo({ name, publisher: 'OAK STREET' })).toBe('network');
    expect(similarTo({ name, publisher: 'Verified by Oak Street' })).toBe('verification');
    expect(similarTo({ name, publisher: 'Rose Ltd' })).toBeUndefined();
  });

  it('O164 lets a verified app have the name of its own publisher, or of the network', () => {
    const name = 'Rose Ltd';
    expect(similarTo({ name, publisher: 'Rose Ltd' })).toBe('rose');
    expect(similarTo({ name, publisher: 'Rose Ltd', isVerified: true })).toBeUndefined();
    expect(similarTo({ name, publisher: 'Other Ltd', isVerified: true })).toBe('rose');
    expect(similarTo({ name: 'Oak Street', isVerified: true })).toBeUndefined();
  });
});
