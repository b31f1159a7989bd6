import { idPattern } from '../../../src/common/ids.js';
import { REQUEST_ID_PATTERN } from '../../../src/http/request-context.js';
import { LINE_PATTERN, TEXT_PATTERN, WEB_URL_PATTERN } from '../../../src/http/text-patterns.js';
import { show } from '../figures.js';
import { IS_QUICK } from '../promises.js';
import {
  attacksOn,
  LIMIT_MS,
  literalsIn,
  LONGEST,
  measure,
  type Literal,
} from './slow-patterns.js';

/** Patterns that are slow on what an attacker cannot write, by their files, with the reason. */
const BOUNDED: Readonly<Record<string, string>> = {
  'src/bin/breaking-changes.ts': 'a path in our own published document',
  'src/bin/new-migration.ts': 'a migration of our own',
  'src/config/env/quota.env.ts': "the operator's own QUOTA_PLANS",
  'src/config/env/values.ts': "the operator's own addresses",
  'src/operations/doctor/examination.ts': 'the message of an error, for "doctor"',
};

/** Those that are made of text, as the published document has them. */
const MADE: readonly Literal[] = [
  { place: 'WEB_URL_PATTERN', pattern: new RegExp(WEB_URL_PATTERN, 'u') },
  { place: 'TEXT_PATTERN', pattern: new RegExp(TEXT_PATTERN, 'u') },
  { place: 'LINE_PATTERN', pattern: new RegExp(LINE_PATTERN, 'u') },
  { place: 'REQUEST_ID_PATTERN', pattern: new RegExp(REQUEST_ID_PATTERN) },
  { place: 'idPattern', pattern: idPattern('svc_app') },
];

/** The longest that any of the attacks takes, as soon as one takes too long. */
function longest(pattern: RegExp): { milliseconds: number; attacks: number } {
  const attacks = attacksOn(pattern, !IS_QUICK);
  let slowest = 0;
  for (const attack of attacks) {
    slowest = Math.max(slowest, measure(pattern, attack).milliseconds);
    if (slowest > LIMIT_MS) break;
  }
  return { milliseconds: slowest, attacks: attacks.length };
}

describe('Regular expressions (CWE-1333)', () => {
  it.each([
    /^(a+)+$/,
    /^(a|aa)+$/,
    /\s+$/,
    /^(\w+\s?)*$/,
    /^[^@]+@(.*)*\.example$/,
    /^a.*b.*c.*d$/,
    /(?:x+x+)+y/,
    /^Bearer +(.* )*x$/,
  ])('that are known to be slow are found: %s', (pattern) => {
    expect(longest(pattern).milliseconds).toBeGreaterThan(LIMIT_MS);
  });

  it(
    'of ours take time in proportion to the text, whatever it is',
    { timeout: 120_000 },
    async ({ task }) => {
      const literals = [...(await literalsIn('src')), ...MADE];
      expect(literals.length).toBeGreaterThan(70);
      const slow = new Set<string>();
      let [slowest, milliseconds, attacks, many] = ['', 0, 0, 0];
      for (const { place, pattern } of literals) {
        const measured = longest(pattern);
        attacks += measured.attacks;
        const [file = ''] = place.split(':');
        if (measured.milliseconds > LIMIT_MS) {
          many += 1;
          slow.add(file in BOUNDED ? file : place);
        } else if (measured.milliseconds > milliseconds)
          [slowest, milliseconds] = [place, measured.milliseconds];
      }
      // One that is not slow any more must leave the list.
      expect([...slow].toSorted()).toEqual(Object.keys(BOUNDED).toSorted());
      show(
        task,
        `${literals.length - many} regular expressions, ${attacks} hostile texts of up to ${LONGEST.toLocaleString('en')} characters, the slowest ${milliseconds.toFixed(1)} ms at ${slowest}; ${many} that no caller writes to may be slow, in ${slow.size} files`,
      );
    },
  );
});
