import type { AppConfig } from '../../../../platform/config/app-config.js';
import { LANGUAGES, type Language } from '../../../../pages/language.js';
import { CATALOGUES } from '../../../../pages/translations/translations.js';
import { costOf } from './segments.js';

type MessageConfig = Pick<AppConfig, 'brand' | 'otp' | 'publicUrl'>;

/** The fewest characters of the name of an app that are shown if it is cut. */
const MIN_CUT_CHARACTERS = 6;

/**
 * The last line lets phones fill in the password on this host only (WebOTP).
 * @param appName the app that the sign-in is for. The message names it as far as this costs no other segment: in letters of GSM 03.38 if
 *   there are similar ones, cut if it is too long, or not at all.
 */
export function oneTimePasswordMessage(
  password: string,
  language: Language,
  { brand, otp, publicUrl }: MessageConfig,
  appName?: string,
): string {
  const { layout, sms } = CATALOGUES[language];
  const network = brand.name ?? layout.network;
  const lastLine = `@${new URL(publicUrl).hostname} #${password}`;
  const messageFor = (app?: string): string =>
    `${sms.oneTimePassword(password, network, otp.seconds, app)}\n\n${lastLine}`;
  const plain = messageFor();
  const { segments } = costOf(plain);
  const names = appName === undefined ? [] : namesOf(appName);
  return names.map(messageFor).find((text) => costOf(text).segments <= segments) ?? plain;
}

/** The name of an app, then shorter and shorter cuts of it. */
function namesOf(appName: string): string[] {
  const name = plainName(appName) ?? appName;
  const characters = Array.from(name);
  const names = [name];
  for (let length = characters.length - 1; length >= MIN_CUT_CHARACTERS; length -= 1)
    names.push(`${characters.slice(0, length).join('').trimEnd()}...`);
  return names;
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
