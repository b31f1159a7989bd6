import unhomoglyph from 'unhomoglyph';
import { InvalidRequest } from '../../../platform/errors.js';
import { codePointName, codePoints } from '../../../platform/text.js';

const MAX_NAME_CHARACTERS = 200;
/**
 * Control, format, private-use and unassigned characters, lone surrogates, line separators, and letters without a glyph. Names with
 * them could look like other names, or change the text around them.
 */
const NOT_VISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Returns the name of an app, trimmed. @throws InvalidRequest */
export function validAppName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '' || codePoints(trimmed) > MAX_NAME_CHARACTERS)
    throw new InvalidRequest(`The name must have 1 to ${MAX_NAME_CHARACTERS} characters.`);
  const [hidden] = NOT_VISIBLE.exec(trimmed) ?? [];
  if (hidden !== undefined)
    throw new InvalidRequest(
      `The name contains ${codePointName(hidden)}, which is invisible or unassigned. Use only visible characters; some emoji contain invisible ones.`,
    );
  return trimmed;
}

/**
 * Names that look alike have the same key: the skeleton of UTS #39 §4, without differences in letter case and white space. `i` equals
 * `l`, because an uppercase `I` looks like a lowercase `l`.
 */
export function appNameKey(name: string): string {
  return unhomoglyph(name.normalize('NFKD'))
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll('i', 'l')
    .replaceAll(/\s+/gu, ' ')
    .trim();
}
