import { type CountryCode, getExampleNumber } from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import { callingCodes, parsePhone } from '../src/modules/users/phone-number.js';
import { sortedByName } from '../src/pages/formats.js';

const HEAD = `\
<!-- Generated from src/modules/users/phone-number.ts by: npm run -s build && node dist/tools/generated-docs.js --write -->
<!-- prettier-ignore-start -->

# Phone numbers

What a member may type to sign in:

- **With the country code**, no region is needed: \`+49 1512 3456789\`, with spaces, brackets, dots, dashes or slashes, and in digits of any script. What people copy along is ignored: quotes, brackets around the code, a comma or semicolon at the end, \`++49\`, \`+0049\`, \`tel:\`, \`https://wa.me/\`, or a label before or behind the number, such as \`Tel.:\` or \`(mobile)\`. A \`(0)\` behind the code is left out where it does not belong to the number, and \`xx\` in Brazil's \`(0xx11)\`.
- **Without it**, the number belongs to the selected region, by default \`OTP_DEFAULT_COUNTRY\`. If the digits begin with the calling code of the region, also after 00, and are valid with a \`+\`, they are read so.
- **As WhatsApp shows numbers of before a change**: \`+52 1 55 1234 5678\` is read as \`+525512345678\`, \`+229 97 12 34 56\` as \`+2290197123456\`.
- **Of a possible length, but in no known range**: the page asks the member to check the number, and accepts it the second time. The range may be newer than the phone library.

Anything else is an error at the field, such as a length that the region does not have.

\`user import\`, \`user add\` and \`user change-phone\` need the country code with \`+\`. \`user import\` warns of numbers in no known range and of fixed lines.

## By region

Every example in a row is the same mobile phone. The columns are the number as it is stored; as it is typed at home, with the region selected; with the country code but without \`+\`, with the region selected; with a trunk prefix that does not belong behind the country code; and the prefixes that may replace the \`+\` of a number of another region. A dash means that there is none.
`;

/** What a member of a region may type for the same mobile phone. */
export interface RegionSpellings {
  /** English name, ISO 3166-1 alpha-2 code and calling code, such as `Germany (DE, +49)`. */
  region: string;
  /** ISO 3166-1 alpha-2. */
  code: string;
  /** E.164. */
  phone: string;
  /** As people write it at home, and without its trunk prefix. */
  national: string[];
  /** With the country code, but without `+`. */
  withoutPlus: string[];
  /** With a trunk prefix between country code and number. */
  trunkPrefix: string[];
  /** The international prefixes that are accepted before the country code of another region. */
  internationalPrefixes: string[];
}

const TRUNK_PREFIXES = ['0', '8', '1', '06'];
const INTERNATIONAL_PREFIXES = '00 011 0011 010 001 000 009 0015 810 119 0 99 1230'.split(' ');
const ABROAD: readonly { code: string; phone: string }[] = [
  { code: 'FR', phone: '+33612345678' },
  { code: 'DE', phone: '+4915123456789' },
];

/** The spellings that `parsePhone` accepts, in every region with a calling code, sorted by name. */
export function regionSpellings(): RegionSpellings[] {
  return sortedByName(callingCodes(), 'en-GB').flatMap(({ code, callingCode, name }) => {
    const example = getExampleNumber(code as CountryCode, examples);
    if (!example) return [];
    const { number: phone, nationalNumber } = example;
    const accepted = (spellings: readonly string[], expected: string = phone): string[] =>
      [...new Set(spellings)].filter((typed) => parsePhone(typed, code) === expected);
    const international = example.formatInternational();
    const abroad = ABROAD.find((other) => other.code !== code)?.phone ?? '';
    return {
      region: `${name} (${code}, +${callingCode})`,
      code,
      phone,
      national: accepted([example.formatNational(), nationalNumber]),
      withoutPlus: accepted([international.slice(1), `00 ${international.slice(1)}`]),
      trunkPrefix: accepted(
        TRUNK_PREFIXES.map((prefix) => `+${callingCode} (${prefix}) ${nationalNumber}`),
      ),
      internationalPrefixes: INTERNATIONAL_PREFIXES.filter(
        (prefix) => accepted([`${prefix} ${abroad.slice(1)}`], abroad).length > 0,
      ),
    };
  });
}

/** The text of docs/phone-numbers.md. */
export function phoneNumbersPage(): string {
  const head = ['Region', 'Stored', 'Selected', 'Without the +', 'Trunk prefix left in', 'Abroad'];
  const rows = regionSpellings().map((one) => [
    one.region,
    spans([one.phone]),
    spans(one.national),
    spans(one.withoutPlus),
    spans(one.trunkPrefix),
    spans(one.internationalPrefixes),
  ]);
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`);
  return `${HEAD}\n${lines.join('')}\n<!-- prettier-ignore-end -->\n`;
}

function spans(texts: readonly string[]): string {
  return texts.map((text) => `\`${text}\``).join(', ') || '–';
}
