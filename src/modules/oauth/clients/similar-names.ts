import unhomoglyph from 'unhomoglyph';
import { LANGUAGES } from '../../../pages/language.js';
import { CATALOGUES } from '../../../pages/translations/translations.js';
import type { AppConfig } from '../../../platform/config/app-config.js';
import type { App } from './client.entities.js';

/*
 * Names by which an app could pass for something else: another app, its publisher, the network, or a verified app.
 */

/** Latin small capitals, and letters like them to which UTS #39 maps Cyrillic ones, with their letters. UTS #39 maps only some. */
const SMALL_CAPITALS: ReadonlyMap<string, string> = new Map(
  Array.from('ᴀʙᴅᴇꜰɢʜᴊĸʟʍɴᴘꞯʀᴛʏ', (capital, index) => [capital, 'abdefghjklmnpqrty'.charAt(index)]),
);
/** Signs that NFKD replaces by letters or digits, such as `™`, `②`, `²` and `ª`, and their spelling in ASCII. */
const SIGNS = /[\p{So}\p{No}ªº]|\((?:c|r|sm|tm)\)/giu;
/** Raised letters have the category of signs that are a part of words, such as the Japanese `ー`. */
const MODIFIER_LETTER = /\p{Lm}/gu;
const CHECK_MARK = /[\u2611\u2705\u2713\u2714\u{1f5f8}\u{1f5f9}]/u;

/**
 * Names that look alike have the same key: the skeleton of UTS #39 §4, without differences in letter case, and without white space,
 * punctuation, symbols and combining marks, unless the name has nothing else. `i` equals `l`, because an uppercase `I` looks like a
 * lowercase `l`, and `vv` equals `w`.
 */
export function appNameKey(name: string): string {
  const lowerCase = Array.from(skeleton(name).toLowerCase(), lowerCaseOf).join('');
  // Some letters have another skeleton in lower case: `m` is `rn`.
  const key = skeleton(lowerCase).toLowerCase().replaceAll('i', 'l');
  // After the skeleton, which makes letters of symbols such as `|`.
  const text = key.replaceAll(/[^\p{L}\p{N}]/gu, '').replaceAll('vv', 'w');
  return text === '' ? key : text;
}

/** The table of UTS #39 has no letters with marks, so `NFKD` splits them first and last. */
function skeleton(text: string): string {
  return unhomoglyph(text.normalize('NFKD')).normalize('NFKD');
}

function lowerCaseOf(character: string): string {
  return SMALL_CAPITALS.get(character) ?? character;
}

/** Whether users could take one name for the other. A sign may stand for its letters, as in `Ⓖarden`, or be an addition, as in `Garden™`. */
export function lookAlike(name: string, other: string): boolean {
  const keys = keysOf(other);
  return keysOf(name).some((key) => keys.includes(key));
}

function keysOf(name: string): string[] {
  const withoutSigns = name
    .replaceAll(SIGNS, '')
    .replaceAll(MODIFIER_LETTER, (letter) => (letter.normalize('NFKC') === letter ? letter : ''));
  return [name, withoutSigns].filter((text) => text.trim() !== '').map(appNameKey);
}

type NamedApp = Pick<App, 'clientId' | 'name' | 'publisher' | 'isVerified'>;

/** What a name looks like. */
export interface Resemblance {
  /** For the audit log: a client id, `network` or `verification`. */
  similarTo: string;
  problem: string;
}

/**
 * What the name of the app looks like, or its publisher; undefined if they are like nothing else.
 * @param changed those to compare. Several apps may have one publisher.
 */
export function resemblanceOf(
  app: NamedApp,
  changed: readonly ('name' | 'publisher')[],
  apps: readonly NamedApp[],
  config: Pick<AppConfig, 'brand'>,
): Resemblance | undefined {
  for (const what of changed) {
    const text = app[what];
    if (text === null) continue;
    const found =
      claimOfVerification(text) ??
      nameOfNetwork(text, app, config) ??
      (what === 'name' ? nameInUse(app, apps) : undefined);
    if (found) return { ...found, problem: `The ${what} ${found.problem}` };
  }
  return undefined;
}

/** The consent page says of verified apps that they are. A name that says so, too, would look like this badge. */
function claimOfVerification(text: string): Resemblance | undefined {
  const key = appNameKey(text);
  const isClaim = CHECK_MARK.test(text) || wordsOfVerification().some((word) => key.includes(word));
  return isClaim
    ? {
        similarTo: 'verification',
        problem: 'looks like the badge of verified apps; remove "verified" or the check mark',
      }
    : undefined;
}

/** The first words of the badge in each language, without the last letter, which differs between genders. */
function wordsOfVerification(): string[] {
  return LANGUAGES.flatMap((language) => {
    const [word = ''] = CATALOGUES[language].app.verified('').split(' ');
    const stem = word.slice(0, -1);
    return stem === '' ? [] : [appNameKey(stem)];
  });
}

/** A verified app may have the network as its publisher, or its name. */
function nameOfNetwork(
  text: string,
  { isVerified }: NamedApp,
  { brand }: Pick<AppConfig, 'brand'>,
): Resemblance | undefined {
  if (isVerified) return undefined;
  const names =
    brand.name === undefined
      ? LANGUAGES.map((language) => CATALOGUES[language].layout.network)
      : [brand.name];
  const name = names.find((each) => lookAlike(text, each));
  return name === undefined
    ? undefined
    : { similarTo: 'network', problem: `looks like the name of the network, "${name}"` };
}

/** A verified app may be called like its publisher, whose other apps name it, too. */
function nameInUse(app: NamedApp, apps: readonly NamedApp[]): Resemblance | undefined {
  for (const { clientId, name, publisher } of apps) {
    if (clientId === app.clientId) continue;
    if (lookAlike(app.name, name))
      return {
        similarTo: clientId,
        problem: `looks like that of the app "${name}" (${clientId})`,
      };
    const isOwn = app.isVerified && publisher === app.publisher;
    if (publisher !== null && !isOwn && lookAlike(app.name, publisher))
      return {
        similarTo: clientId,
        problem: `looks like the publisher "${publisher}" of the app "${name}" (${clientId})`,
      };
  }
  return undefined;
}
