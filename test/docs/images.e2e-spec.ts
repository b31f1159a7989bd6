import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join, normalize } from 'node:path';

const PAGES = ['README.md', ...readdirSync('docs').filter((name) => name.endsWith('.md'))].map(
  (name) => (name === 'README.md' ? name : join('docs', name)),
);
const FOLDER = 'docs/images';

/** The images of a page: those that it shows have an alternative text. */
function imagesOf(page: string): { file: string; alt: string | undefined }[] {
  const text = readFileSync(page, 'utf8');
  return [
    ...text.matchAll(/<img src="([^"]+)"(?:[^>]* alt="([^"]+)")?|\]\((images\/[^)]+)\)/g),
  ].map(([, shown, alt, linked]) => ({
    file: normalize(join(page, '..', shown ?? linked ?? '')),
    alt: shown === undefined ? 'linked' : alt,
  }));
}

/** The durations of the frames of an animated WebP, in milliseconds (RFC 9649, section 2.7.1.1). */
function frameDurations(webp: Buffer): number[] {
  expect(webp.toString('latin1', 0, 4) + webp.toString('latin1', 8, 12)).toBe('RIFFWEBP');
  const durations: number[] = [];
  for (let at = 12; at < webp.length;) {
    const size = webp.readUInt32LE(at + 4);
    if (webp.toString('latin1', at, at + 4) === 'ANMF')
      durations.push(webp.readUIntLE(at + 8 + 12, 3));
    at += 8 + size + (size % 2);
  }
  return durations;
}

const foldersOf = (parent: string): string[] =>
  readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

describe('Images of the documentation', () => {
  const images = PAGES.flatMap(imagesOf);

  it('exist, have an alternative text and are all used', () => {
    expect(images.filter(({ alt }) => alt === undefined)).toEqual([]);
    const used = new Set(images.map(({ file }) => file));
    expect([...used].toSorted()).toEqual(
      readdirSync(FOLDER)
        .map((name) => join(FOLDER, name))
        .toSorted(),
    );
  });

  it('have a tour of at most 1 MB, with 2 to 3 seconds for each frame', () => {
    const tour = join(FOLDER, 'tour.webp');
    expect(statSync(tour).size).toBeLessThanOrEqual(1_000_000);
    const durations = frameDurations(readFileSync(tour));
    expect(durations.length).toBeGreaterThanOrEqual(4);
    expect(durations.filter((ms) => ms < 2000 || ms > 3000)).toEqual([]);
  });

  it.each(['modules', 'platform'])('show each folder of %s in the architecture', (group) => {
    const picture = readFileSync(join(FOLDER, 'architecture.svg'), 'utf8');
    const names = picture.split(`<g class="${group}">`)[1]?.split('</g>')[0] ?? '';
    const shown = [...names.matchAll(/>([a-z]+)<\/text>/g)].map(([, name]) => name);
    expect(shown.toSorted()).toEqual(foldersOf(`src/${group}`).toSorted());
  });
});
