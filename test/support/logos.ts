/** Pictures of apps. Only their headers are complete. */

/** One transparent pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
export const JPEG = Buffer.from(
  'ffd8ffe000104a46494600010100000100010000ffc0000b080001000101011100ffd9',
  'hex',
);
export const WEBP = Buffer.from('RIFF\x1a\0\0\0WEBPVP8L\r\0\0\0\x2f\0\0\0\x10', 'latin1');

/** A PNG of `size` bytes, with every value of a byte. */
export function pngOf(size: number): Buffer {
  const bytes = Buffer.from(Array.from({ length: size }, (_, index) => index % 256));
  PNG.copy(bytes);
  return bytes;
}

/** A PNG whose header declares these dimensions. */
export function pngOfPixels(width: number, height: number): Buffer {
  const bytes = Buffer.from(PNG);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}
