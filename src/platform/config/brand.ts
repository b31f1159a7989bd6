import { imageTypeOf, readLogoFile } from '../logo-file.js';

/** The identity of the network, on pages, in text messages and in the documentation. */
export interface Brand {
  /** Undefined for a name of its own in each language of the pages. */
  name: string | undefined;
  /** Undefined for the default picture. The content is base64. */
  logo: { type: 'image/png' | 'image/svg+xml'; content: string } | undefined;
  colors: BrandColors | undefined;
  privacyUrl: string | undefined;
  termsUrl: string | undefined;
  supportUrl: string | undefined;
}

/** Hexadecimal colours of buttons and links, on light and on dark pages. `strong` is for hover, `on` for text on the colour. */
export interface BrandColors {
  light: { accent: string; strong: string; on: string };
  dark: { accent: string; strong: string; on: string };
}

/** @throws Error with a message that follows the name of the variable */
export function readLogo(path: string): NonNullable<Brand['logo']> {
  let bytes: Buffer;
  try {
    bytes = readLogoFile(path);
  } catch (error) {
    throw new Error(`the file ${path} ${(error as Error).message}`, { cause: error });
  }
  const content = bytes.toString('base64');
  if (imageTypeOf(bytes) === 'image/png') return { type: 'image/png', content };
  const text = bytes.toString().trimStart();
  // A declaration or a comment may come first.
  if (/^<(svg|\?xml|!)/.test(text) && text.includes('<svg'))
    return { type: 'image/svg+xml', content };
  throw new Error(`the file ${path} is neither PNG nor SVG`);
}

type Rgb = [red: number, green: number, blue: number];

const WHITE: Rgb = [255, 255, 255];
const BLACK: Rgb = [0, 0, 0];
/** The darkest background of light pages, and the lightest of dark ones (`style.css`). */
export const LIGHT_GROUND: Rgb = [0xf3, 0xf5, 0xf1];
export const DARK_GROUND: Rgb = [0x1f, 0x2a, 0x28];
const DARK_TEXT: Rgb = [0x0f, 0x15, 0x13];
/** WCAG 2.2, success criterion 1.4.3 (AA). */
const MIN_CONTRAST = 4.5;

/** @throws Error with a message that follows the name of the variable */
export function colorsOf(color: string): BrandColors {
  if (!/^#[0-9a-f]{6}$/i.test(color)) throw new Error('must be a colour such as #0d5c4d');
  const accent = rgbOf(color);
  const contrast = contrastOf(accent, LIGHT_GROUND);
  if (contrast < MIN_CONTRAST)
    throw new Error(
      `${color} has a contrast of ${contrast.toFixed(1)} to the background of the pages, but WCAG AA needs ${MIN_CONTRAST}; choose a darker colour`,
    );
  // The same hue, as light as dark pages need.
  let light = accent;
  for (let part = 0.1; contrastOf(light, DARK_GROUND) < MIN_CONTRAST + 1; part += 0.1)
    light = mixed(accent, WHITE, Math.min(part, 1));
  return {
    light: { accent: hexOf(accent), strong: hexOf(mixed(accent, BLACK, 0.3)), on: '#ffffff' },
    dark: {
      accent: hexOf(light),
      strong: hexOf(mixed(light, WHITE, 0.4)),
      on: hexOf(DARK_TEXT),
    },
  };
}

function rgbOf(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function hexOf(color: Rgb): string {
  return `#${color.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;
}

function mixed(color: Rgb, other: Rgb, part: number): Rgb {
  return color.map((value, index) => value + ((other[index] ?? 0) - value) * part) as Rgb;
}

/** The contrast ratio of WCAG 2.2, from 1 to 21. */
function contrastOf(one: Rgb, other: Rgb): number {
  const [darker, lighter] = [luminanceOf(one), luminanceOf(other)].toSorted((a, b) => a - b) as [
    number,
    number,
  ];
  return (lighter + 0.05) / (darker + 0.05);
}

function luminanceOf([red, green, blue]: Rgb): number {
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

function linear(part: number): number {
  const share = part / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}
