import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from './config/load-config.js';
import { imageTypeOf, logoProblem, readLogoFile } from './logo-file.js';

function uint(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
}

const littleEndian = (value: number, bytes: number): Buffer =>
  Buffer.from(uint(value, bytes).toReversed());

type MakePicture = (width: number, height: number) => Buffer;

const png: MakePicture = (width, height) =>
  Buffer.concat([
    Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
    ...[width, height].map((size) => uint(size, 4)),
    Buffer.from('0806000000', 'hex'),
  ]);

/** @param marker of the frame header @param before other segments */
const jpegWith =
  (marker: number, before = ''): MakePicture =>
  (width, height) =>
    Buffer.concat([
      Buffer.from('ffd8', 'hex'),
      // JFIF, with a thumbnail that has a frame header in its data.
      Buffer.from(`ffe00009ffc0000b080001${before}`, 'hex'),
      Buffer.from([0xff, marker]),
      Buffer.from('000b08', 'hex'),
      ...[height, width].map((size) => uint(size, 2)),
      Buffer.from('01011100ffd9', 'hex'),
    ]);

const webp = (chunk: string, data: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from('RIFF'),
    littleEndian(data.length + 12, 4),
    Buffer.from(`WEBP${chunk}`),
    littleEndian(data.length, 4),
    data,
  ]);

const lossy: MakePicture = (width, height) =>
  webp(
    'VP8 ',
    Buffer.concat([
      Buffer.from('1002009d012a', 'hex'),
      // The upper two bits are a scale.
      ...[width, height].map((size) => littleEndian(size | 0x4000, 2)),
    ]),
  );

const lossless: MakePicture = (width, height) =>
  webp(
    'VP8L',
    Buffer.concat([
      Buffer.from([0x2f]),
      littleEndian((width - 1) | ((height - 1) << 14) | (1 << 28), 4),
    ]),
  );

const extended: MakePicture = (width, height) =>
  webp(
    'VP8X',
    Buffer.concat([
      Buffer.from('10000000', 'hex'),
      ...[width, height].map((size) => littleEndian(size - 1, 3)),
    ]),
  );

const FORMATS: readonly [string, MakePicture, number][] = [
  ['PNG', png, 20_000],
  ['baseline JPEG', jpegWith(0xc0), 20_000],
  ['progressive JPEG', jpegWith(0xc2), 20_000],
  ['JPEG with tables and fill bytes', jpegWith(0xc1, 'ffffffc40004aaaaffdb0003aa'), 20_000],
  ['lossy WebP', lossy, 16_383],
  ['lossless WebP', lossless, 16_384],
  ['extended WebP', extended, 20_000],
];

describe('logoProblem', () => {
  it.each(FORMATS)('O168 accepts up to 1024 pixels in each dimension of a %s', (_title, make) => {
    for (const [width, height] of [
      [1, 1],
      [1024, 1024],
      [1024, 2],
      [3, 1024],
    ] as const)
      expect(logoProblem(make(width, height))).toBeUndefined();
  });

  it.each(FORMATS)('O168 rejects larger dimensions of a %s', (_title, make, largest) => {
    for (const [width, height] of [
      [1025, 1],
      [1, 1025],
      [largest, largest],
    ] as const)
      expect(logoProblem(make(width, height))).toBe(
        `has ${width} × ${height} pixels; use at most 1024 × 1024`,
      );
  });

  it.each(FORMATS)('O168 rejects a %s whose header is cut off', (_title, make) => {
    const whole = make(9, 9);
    const shortest = whole.findIndex(
      (_, length) => imageTypeOf(whole.subarray(0, length)) !== undefined,
    );
    const outcomes = Array.from({ length: whole.length - shortest }, (_, index) =>
      logoProblem(whole.subarray(0, shortest + index)),
    );
    expect(outcomes[0]).toBe('is damaged: its header has no dimensions');
    expect(new Set(outcomes).size).toBeLessThanOrEqual(2);
  });

  it.each([
    ['a PNG without width', png(0, 9)],
    ['a JPEG without height', jpegWith(0xc0)(9, 0)],
    ['a PNG whose first chunk is another', Buffer.from('89504e470d0a1a0a0000000d49444154', 'hex')],
    ['a JPEG with data before the frame header', Buffer.from('ffd8ffda0008010100003f00', 'hex')],
    ['a JPEG that ends at once', Buffer.from('ffd8ffd9', 'hex')],
    ['a JPEG with bytes between its segments', Buffer.from('ffd8ffe0000200ffc0000b', 'hex')],
    ['a WebP with another chunk', webp('ALPH', Buffer.alloc(20))],
    ['a lossy WebP without start code', webp('VP8 ', Buffer.alloc(20))],
    ['a lossless WebP without signature', webp('VP8L', Buffer.alloc(20))],
  ])('O168 rejects %s', (_title, bytes) => {
    expect(logoProblem(bytes)).toBe('is damaged: its header has no dimensions');
  });
});

describe('readLogoFile', () => {
  const folder = mkdtempSync(join(tmpdir(), 'platform-logo-file-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('refuses a device and a pipe without opening them, also as the logo of the network', () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    for (const path of [pipe, '/dev/zero', folder]) {
      expect(() => readLogoFile(path)).toThrow('is not a regular file');
      expect(() => loadConfig({ NETWORK_LOGO: path })).toThrow(
        `NETWORK_LOGO: the file ${path} is not a regular file`,
      );
    }
  });
});
