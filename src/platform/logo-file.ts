import { readFileSync } from 'node:fs';
import { reasonOf } from './permission-model.js';

export const MAX_LOGO_BYTES = 262_144;

export type ImageType = 'image/png' | 'image/jpeg' | 'image/webp';

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const JPEG_START = Buffer.from([0xff, 0xd8, 0xff]);

/** The type of a picture, by its first bytes. Undefined if it is not PNG, JPEG or WebP. */
export function imageTypeOf(bytes: Buffer): ImageType | undefined {
  if (bytes.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) return 'image/png';
  if (bytes.subarray(0, JPEG_START.length).equals(JPEG_START)) return 'image/jpeg';
  const isWebp =
    bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';
  return isWebp ? 'image/webp' : undefined;
}

/**
 * Reads a file of 1 to 262,144 bytes.
 * @throws Error whose message is the problem, without the file as its subject, such as "is empty"
 */
export function readLogoFile(path: string): Buffer {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new Error(`cannot be read: ${reasonOf(error)}`, { cause: error });
  }
  if (bytes.length === 0) throw new Error('is empty');
  if (bytes.length > MAX_LOGO_BYTES)
    throw new Error(`has ${bytes.length} bytes; use at most ${MAX_LOGO_BYTES}`);
  return bytes;
}
