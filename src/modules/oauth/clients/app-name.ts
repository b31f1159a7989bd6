import unhomoglyph from 'unhomoglyph';
import { InvalidRequest } from '../../../platform/errors.js';
import { codePointName, codePoints } from '../../../platform/text.js';

const MAX_NAME_CHARACTERS = 60;
/**
 * Control, format, private-use and unassigned characters, lone surrogates, line separators, and letters without a glyph. Names with
 * them could look like other names, or change the text around them.
 */
const NOT_VISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Returns the name of an app, trimmed. Names of version 1.0 may be longer. @throws InvalidRequest */
export function validAppName(name: string): string {
  return visibleText('name', name);
}

/** Returns the name of a publisher, trimmed. @throws InvalidRequest */
export function validPublisher(publisher: string): string {
  return visibleText('publisher', publisher);
}

function visibleText(what: string, text: string): string {
  const trimmed = text.trim();
  if (trimmed === '' || codePoints(trimmed) > MAX_NAME_CHARACTERS)
    throw new InvalidRequest(`The ${what} must have 1 to ${MAX_NAME_CHARACTERS} characters.`);
  const [hidden] = NOT_VISIBLE.exec(trimmed) ?? [];
  if (hidden !== undefined)
    throw new InvalidRequest(
      `The ${what} contains ${codePointName(hidden)}, which is invisible or unassigned. Use only visible characters; some emoji contain invisible ones.`,
    );
  return trimmed;
}

/** Latin small capitals, and letters like them to which UTS #39 maps Cyrillic ones, with their letters. UTS #39 maps only some. */
const SMALL_CAPITALS: ReadonlyMap<string, string> = new Map(
  Array.from('ᴀʙᴅᴇꜰɢʜᴊĸʟʍɴᴘꞯʀᴛʏ', (capital, index) => [capital, 'abdefghjklmnpqrty'.charAt(index)]),
);

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
