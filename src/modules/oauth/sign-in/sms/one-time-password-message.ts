import type { AppConfig } from '../../../../platform/config/app-config.js';
import { LANGUAGES, type Language } from '../../../../pages/language.js';
import { CATALOGUES } from '../../../../pages/translations/translations.js';
import { costOf } from './segments.js';

type MessageConfig = Pick<AppConfig, 'brand' | 'otp' | 'publicUrl'>;

/** The last line lets phones fill in the password on this host only (WebOTP). */
export function oneTimePasswordMessage(
  password: string,
  language: Language,
  { brand, otp, publicUrl }: MessageConfig,
): string {
  const { layout, sms } = CATALOGUES[language];
  const text = sms.oneTimePassword(password, brand.name ?? layout.network, otp.seconds);
  return `${text}\n\n@${new URL(publicUrl).hostname} #${password}`;
}

/** The segments of a message, by language: `1 segment (en), 2 segments (es)`. Gateways charge for each segment. */
export function segmentsOfMessages(config: MessageConfig): string {
  return LANGUAGES.map((language) => {
    const { segments } = costOf(oneTimePasswordMessage('000000', language, config));
    return `${segments} ${segments === 1 ? 'segment' : 'segments'} (${language})`;
  }).join(', ');
}

/** Why a message costs more than one segment, and what to do; undefined if it costs one in each language. */
export function expensiveMessage(
  config: MessageConfig,
): { summary: string; remedy: string } | undefined {
  const costs = LANGUAGES.map((language) =>
    costOf(oneTimePasswordMessage('000000', language, config)),
  );
  if (costs.every(({ segments }) => segments === 1)) return undefined;
  const summary = `A one-time password costs more than one text message: ${segmentsOfMessages(config)}`;
  const characters = [...new Set(costs.flatMap(({ unicode }) => unicode))];
  if (characters.length === 0)
    return {
      summary: `${summary}, because it has more than 160 characters`,
      remedy: 'Shorten NETWORK_NAME, or the host of PUBLIC_URL.',
    };
  const named = characters.map((character) => `${character} (${codePoint(character)})`).join(', ');
  const plain = plainName(config.brand.name ?? '');
  return {
    summary: `${summary}, because the alphabet of text messages (GSM 03.38) lacks ${named}`,
    remedy:
      plain === undefined
        ? 'Write NETWORK_NAME in the letters of that alphabet.'
        : `NETWORK_NAME='${plain.replaceAll("'", String.raw`'\''`)}'`,
  };
}

function codePoint(character: string): string {
  const hexadecimal = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `U+${hexadecimal}`;
}

/** Signs of GSM 03.38 in place of similar ones that NFKD does not decompose. */
const SIMILAR: Readonly<Record<string, string>> = {
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
  '«': '"',
  '»': '"',
  '–': '-',
  '—': '-',
  '·': '-',
  '•': '-',
};

/** The name with similar characters of GSM 03.38, such as `León` as `Leon`; undefined if there are none. */
function plainName(name: string): string | undefined {
  const plain = Array.from(name)
    .map((character) => {
      if (costOf(character).unicode.length === 0) return character;
      return SIMILAR[character] ?? character.normalize('NFKD').replaceAll(/\p{M}/gu, '');
    })
    .join('');
  return costOf(plain).unicode.length === 0 ? plain : undefined;
}
