import { readFileSync, statSync } from 'node:fs';
import { reasonOf } from './permission-model.js';

export const MAX_LOGO_BYTES = 262_144;

/** A browser decodes a whole picture, whatever the size at which a page shows it: few bytes can take gigabytes of memory. */
const MAX_LOGO_PIXELS = 1024;

export type ImageType = 'image/png' | 'image/jpeg' | 'image/webp';

type Size = readonly [width: number, height: number];

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const JPEG_START = Buffer.from([0xff, 0xd8, 0xff]);

/** The type of a picture, by its first bytes. Undefined if it is not PNG, JPEG or WebP. */
export function imageTypeOf(bytes: Buffer): ImageType | undefined {
  if (bytes.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) return 'image/png';
  if (bytes.subarray(0, JPEG_START.length).equals(JPEG_START)) return 'image/jpeg';
  const isWebp = textAt(bytes, 0) === 'RIFF' && textAt(bytes, 8) === 'WEBP';
  return isWebp ? 'image/webp' : undefined;
}

/** Why the picture cannot be the logo of an app, without it as the subject, such as "is damaged"; undefined if it can. */
export function logoProblem(bytes: Buffer): string | undefined {
  const type = imageTypeOf(bytes);
  if (bytes.length > MAX_LOGO_BYTES || type === undefined)
    return `must be a PNG, JPEG or WebP picture of at most ${MAX_LOGO_BYTES} bytes`;
  const [width, height] = sizeOf(bytes, type) ?? [0, 0];
  if (width === 0 || height === 0) return 'is damaged: its header has no dimensions';
  return width > MAX_LOGO_PIXELS || height > MAX_LOGO_PIXELS
    ? `has ${width} × ${height} pixels; use at most ${MAX_LOGO_PIXELS} × ${MAX_LOGO_PIXELS}`
    : undefined;
}

/** The dimensions in the header, in pixels. Undefined if it is malformed or incomplete. */
function sizeOf(bytes: Buffer, type: ImageType): Size | undefined {
  try {
    if (type === 'image/png') return sizeOfPng(bytes);
    return type === 'image/jpeg' ? sizeOfJpeg(bytes) : sizeOfWebp(bytes);
  } catch (error) {
    // A read beyond the end.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** W3C PNG, §11.2.1: the first chunk is IHDR. */
function sizeOfPng(bytes: Buffer): Size | undefined {
  if (textAt(bytes, 12) !== 'IHDR') return undefined;
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}

/** ITU-T T.81, §B.2: segments, of which the frame header (SOF) has the dimensions. */
function sizeOfJpeg(bytes: Buffer): Size | undefined {
  for (let offset = 2; ;) {
    if (bytes.readUInt8(offset) !== 0xff) return undefined;
    const marker = bytes.readUInt8(offset + 1);
    // Any number of fill bytes may precede a marker.
    if (marker === 0xff) {
      offset += 1;
      continue;
    }
    // DHT, JPG and DAC are not frame headers.
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return [bytes.readUInt16BE(offset + 7), bytes.readUInt16BE(offset + 5)];
    // The data begin, or the picture ends, without a frame header. Other markers below have no length.
    if (marker < 0xc0 || (marker >= 0xd0 && marker <= 0xda)) return undefined;
    offset += 2 + bytes.readUInt16BE(offset + 2);
  }
}

/** RFC 9649, §2.5 to §2.7. */
function sizeOfWebp(bytes: Buffer): Size | undefined {
  switch (textAt(bytes, 12)) {
    case 'VP8 ':
      if (bytes.readUIntBE(23, 3) !== 0x9d012a) return undefined;
      return [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff];
    case 'VP8L': {
      if (bytes.readUInt8(20) !== 0x2f) return undefined;
      const bits = bytes.readUInt32LE(21);
      return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
    }
    case 'VP8X':
      return [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1];
    default:
      return undefined;
  }
}

/** Four bytes as ASCII characters. */
function textAt(bytes: Buffer, offset: number): string {
  return bytes.toString('latin1', offset, offset + 4);
}

/**
 * Reads a regular file of 1 to 262,144 bytes. Does not open other files: a device or a pipe may never end.
 * @throws Error whose message is the problem, without the file as its subject, such as "is empty"
 */
export function readLogoFile(path: string): Buffer {
  const file = readable(() => statSync(path));
  if (!file.isFile()) throw new Error('is not a regular file');
  if (file.size === 0) throw new Error('is empty');
  if (file.size > MAX_LOGO_BYTES)
    throw new Error(`has ${file.size} bytes; use at most ${MAX_LOGO_BYTES}`);
  return readable(() => readFileSync(path));
}

function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Error(`cannot be read: ${reasonOf(error)}`, { cause: error });
  }
}
