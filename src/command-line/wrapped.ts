import { codePoints } from '../common/text.js';

/** `text` as lines of at most `width` characters, cut at spaces, and a longer word where it must be. Never empty. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ').flatMap((whole) => pieces(whole, width))) {
    const line = lines.at(-1) ?? '';
    if (line === '') lines[lines.length - 1] = word;
    else if (codePoints(line) + 1 + codePoints(word) <= width)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function pieces(word: string, width: number): string[] {
  const characters = Array.from(word);
  const count = Math.max(1, Math.ceil(characters.length / width));
  return Array.from({ length: count }, (_, at) =>
    characters.slice(at * width, (at + 1) * width).join(''),
  );
}
