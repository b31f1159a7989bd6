import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DARK_GROUND, LIGHT_GROUND } from './brand.js';
import { loadConfig } from './load-config.js';

const CSS = readFileSync('src/pages/style.css', 'utf8');

/** The values of a custom property of the style sheet, for light and for dark pages. */
function valuesOf(property: string): string[] {
  const values = CSS.matchAll(new RegExp(`--${property}: (#[0-9a-f]{6});`, 'g'));
  return [...values].map(([, color = '']) => color);
}

const [lightGround = ''] = valuesOf('ground');
const [, darkGround = ''] = valuesOf('inset');

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

describe('The identity of the network', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'platform-brand-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const logo = (name: string, content: string | Buffer): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };

  it('is empty by default', () => {
    expect(loadConfig({}).brand).toEqual({});
  });

  it.each([
    ['a.png', PNG, 'image/png'],
    ['b.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/svg+xml'],
    [
      'c.svg',
      '\uFEFF<?xml version="1.0"?>\n<!-- Made by hand -->\n<svg viewBox="0 0 1 1"></svg>',
      'image/svg+xml',
    ],
  ])('reads the logo %s by its content', (name, content, type) => {
    const { brand } = loadConfig({ NETWORK_LOGO: logo(name, content) });
    expect(brand.logo).toEqual({ type, content: Buffer.from(content).toString('base64') });
  });

  it.each([
    ['a photo', 'd.png', Buffer.from('ffd8ffe0', 'hex'), 'is neither PNG nor SVG'],
    ['a page', 'e.svg', '<html><svg></svg></html>', 'is neither PNG nor SVG'],
    ['a large file', 'f.png', Buffer.alloc(262_145), 'has 262145 bytes; use at most 262144'],
  ])('rejects %s as a logo', (_, name, content, problem) => {
    expect(() => loadConfig({ NETWORK_LOGO: logo(name, content) })).toThrow(
      `NETWORK_LOGO: the file ${join(folder, name)} ${problem}`,
    );
  });

  it('reports a missing file and a pale colour together', () => {
    const environment = { NETWORK_LOGO: join(folder, 'none.svg'), NETWORK_COLOR: '#ffcc00' };
    expect(() => loadConfig(environment)).toThrow(
      /NETWORK_LOGO: the file .* cannot be read: ENOENT/,
    );
    expect(() => loadConfig(environment)).toThrow(
      'NETWORK_COLOR: #ffcc00 has a contrast of 1.4 to the background of the pages, but WCAG AA needs 4.5; choose a darker colour',
    );
  });

  it('compares colours with the backgrounds of the style sheet that have the least contrast', () => {
    const backgrounds = ['ground', 'card', 'inset'].map(valuesOf);
    const least = (index: number, text: string): string | undefined =>
      backgrounds
        .map((values) => values[index] ?? '')
        .toSorted((one, other) => contrast(one, text) - contrast(other, text))[0];
    expect(least(0, '#000000')).toBe(hexOf(LIGHT_GROUND));
    expect(least(1, '#ffffff')).toBe(hexOf(DARK_GROUND));
  });

  it.each(['#0d5c4d', '#b00020', '#1d4ed8', '#000000', '#7b1fa2'])(
    'derives colours for dark pages from %s with the contrast of WCAG AA',
    (color) => {
      const { colors } = loadConfig({ NETWORK_COLOR: color }).brand;
      expect(colors?.light.accent).toBe(color);
      for (const part of [colors?.dark.accent, colors?.dark.strong]) {
        expect(contrast(part ?? '', darkGround)).toBeGreaterThanOrEqual(4.5);
        expect(contrast(part ?? '', colors?.dark.on ?? '')).toBeGreaterThanOrEqual(4.5);
      }
      for (const part of [colors?.light.accent, colors?.light.strong]) {
        expect(contrast(part ?? '', lightGround)).toBeGreaterThanOrEqual(4.5);
        expect(contrast(part ?? '', colors?.light.on ?? '')).toBeGreaterThanOrEqual(4.5);
      }
    },
  );

  it.each([
    ['NETWORK_COLOR', 'green', 'must be a colour such as #0d5c4d'],
    ['NETWORK_NAME', 'x'.repeat(41), 'must have at most 40 characters'],
    ['NETWORK_NAME', 'Neigh\u202Ebours', 'must be one line of visible characters'],
    ['PRIVACY_URL', 'javascript:alert(1)', 'must be an http or https URL'],
  ])('rejects %s=%s', (name, value, problem) => {
    expect(() => loadConfig({ [name]: value })).toThrow(`${name}: ${problem}`);
  });
});

function hexOf(color: readonly number[]): string {
  return `#${Buffer.from(color).toString('hex')}`;
}

/** The contrast ratio of WCAG 2.2, written a second time as a check. */
function contrast(one: string, other: string): number {
  const luminance = (hex: string): number =>
    [1, 3, 5]
      .map((start) => Number.parseInt(hex.slice(start, start + 2), 16) / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
      .reduce((sum, part, index) => sum + part * ([0.2126, 0.7152, 0.0722][index] ?? 0), 0);
  const values = [luminance(one), luminance(other)].map((value) => value + 0.05);
  return Math.max(...values) / Math.min(...values);
}
