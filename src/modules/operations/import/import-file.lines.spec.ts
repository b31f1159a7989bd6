import type { Line } from './file-record.js';
import { batchesOfLines } from './import-file.js';

async function batchesOf(
  chunks: readonly (Buffer | string)[],
  { batchSize } = { batchSize: 100 },
): Promise<Line[][]> {
  async function* source(): AsyncGenerator<Buffer | string> {
    yield* chunks;
  }
  const batches: Line[][] = [];
  for await (const batch of batchesOfLines(source(), batchSize)) batches.push(batch);
  return batches;
}

describe('batchesOfLines', () => {
  it('returns the same lines wherever the chunks are split, also within a character or CRLF', async () => {
    const bytes = Buffer.from('\uFEFFŽofie\r\n\r\n🌻\nend');
    const whole = [
      { number: 1, text: 'Žofie' },
      { number: 3, text: '🌻' },
      { number: 4, text: 'end', isUnterminated: true },
    ];
    for (let cut = 0; cut <= bytes.length; cut += 1)
      expect(await batchesOf([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual([whole]);
  });

  it('yields batches of the given number of lines', async () => {
    const batches = await batchesOf(['a\nb\n', 'c\nd\ne'], { batchSize: 2 });
    expect(batches.map((batch) => batch.map(({ text }) => text))).toEqual([
      ['a', 'b'],
      ['c', 'd'],
      ['e'],
    ]);
  });

  it('ends a batch of long lines earlier', async () => {
    const long = 'x'.repeat(30_000);
    const batches = await batchesOf([`${long}\n`.repeat(10)]);
    expect(batches.map((batch) => batch.length)).toEqual([7, 3]);
  });

  it('keeps the number but not the text of a line over the length limit', async () => {
    const long = 'x'.repeat(20_000);
    expect(await batchesOf(['a\n', long, long, 'y', '\nb\n', long, long])).toEqual([
      [
        { number: 1, text: 'a' },
        { number: 2, text: undefined },
        { number: 3, text: 'b' },
        { number: 4, text: undefined, isUnterminated: true },
      ],
    ]);
  });

  it('replaces invalid UTF-8 by U+FFFD', async () => {
    expect(await batchesOf([Buffer.from([0x61, 0xeb, 0x0a])])).toEqual([
      [{ number: 1, text: 'a\uFFFD' }],
    ]);
  });

  it('yields nothing for an empty or blank file', async () => {
    expect(await batchesOf(['', '\uFEFF', '\n \r\n'])).toEqual([]);
  });
});
