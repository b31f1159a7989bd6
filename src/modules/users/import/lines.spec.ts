import { batchesOfLines, type Line } from './import-file.js';

async function linesOf(chunks: readonly (Buffer | string)[], size = 100): Promise<Line[][]> {
  async function* source(): AsyncGenerator<Buffer | string> {
    yield* chunks;
  }
  const batches: Line[][] = [];
  for await (const batch of batchesOfLines(source(), size)) batches.push(batch);
  return batches;
}

describe('Lines of a byte stream', () => {
  it('are the same wherever the stream is cut, in the middle of a character and of CRLF included', async () => {
    const bytes = Buffer.from('\uFEFFŽofie\r\n\r\n🌻\nend');
    const whole = [
      { number: 1, text: 'Žofie' },
      { number: 3, text: '🌻' },
      { number: 4, text: 'end' },
    ];
    for (let cut = 0; cut <= bytes.length; cut += 1)
      expect(await linesOf([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual([whole]);
  });

  it('come in batches', async () => {
    const batches = await linesOf(['a\nb\n', 'c\nd\ne'], 2);
    expect(batches.map((batch) => batch.map(({ text }) => text))).toEqual([
      ['a', 'b'],
      ['c', 'd'],
      ['e'],
    ]);
  });

  it('lose the text of those that are too long to be held, and no other', async () => {
    const long = 'x'.repeat(20_000);
    expect(await linesOf(['a\n', long, long, 'y', '\nb\n', long, long])).toEqual([
      [
        { number: 1, text: 'a' },
        { number: 2, text: undefined },
        { number: 3, text: 'b' },
        { number: 4, text: undefined },
      ],
    ]);
  });

  it('have U+FFFD for what is not UTF-8', async () => {
    expect(await linesOf([Buffer.from([0x61, 0xeb, 0x0a])])).toEqual([
      [{ number: 1, text: 'a\uFFFD' }],
    ]);
  });

  it('are none in an empty file', async () => {
    expect(await linesOf(['', '\uFEFF', '\n \r\n'])).toEqual([]);
  });
});
