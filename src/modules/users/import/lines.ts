/** A line of a text file; the first is number 1. `text` is undefined when the line is longer than may be held. */
export interface Line {
  number: number;
  text: string | undefined;
}

/** Far more than a user's columns may come to. */
const LONGEST = 32_768;

/**
 * Cuts a byte stream into batches of lines that are not empty, without their ends and without a byte order mark. What is not
 * UTF-8 becomes U+FFFD. However long the file and its lines, little of it is held at once.
 */
export async function* batchesOfLines(
  source: AsyncIterable<string | Buffer>,
  size: number,
): AsyncGenerator<Line[]> {
  let batch: Line[] = [];
  for await (const lines of numberedLines(source)) {
    for (const line of lines) {
      if (line.text?.trim() === '') continue;
      batch.push(line);
      if (batch.length < size) continue;
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

async function* numberedLines(source: AsyncIterable<string | Buffer>): AsyncGenerator<Line[]> {
  let rest = '';
  let number = 0;
  let isTooLong = false;
  const lineOf = (text: string): Line => {
    number += 1;
    const kept = isTooLong || text.length > LONGEST ? undefined : text.replace(/\r$/, '');
    isTooLong = false;
    return { number, text: kept };
  };
  for await (const text of decoded(source)) {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    yield parts.map(lineOf);
    if (rest.length <= LONGEST) continue;
    isTooLong = true;
    rest = '';
  }
  if (rest !== '' || isTooLong) yield [lineOf(rest)];
}

async function* decoded(source: AsyncIterable<string | Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const part of source)
    yield decoder.decode(typeof part === 'string' ? Buffer.from(part) : part, { stream: true });
  yield decoder.decode();
}
