import { LogDestination, type WriteFunction } from './log-destination.js';

type Done = Parameters<WriteFunction>[1];

/** A file that accepts bytes up to a limit, which a test can raise, and then fails with an error. */
function limitedFile(code: string) {
  const file = { limit: 0, text: '', attempts: 0 };
  const write = (buffer: Buffer, done: Done): void => {
    file.attempts += 1;
    const accepted = buffer.subarray(0, Math.max(0, file.limit - Buffer.byteLength(file.text)));
    file.text += accepted.toString();
    const error = accepted.length === 0 ? Object.assign(new Error(code), { code }) : null;
    setImmediate(() => done(error, accepted.length));
  };
  return { file, destination: new LogDestination(write) };
}

const line = (number: number): string => `{"line":${number}}\n`;
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

describe('LogDestination', () => {
  it.each(['ENOSPC', 'EDQUOT', 'EFBIG', 'EPIPE', 'EIO'])(
    'drops and counts the lines that %s prevents, and writes the lines after it',
    async (code) => {
      const { file, destination } = limitedFile(code);
      for (let number = 0; number < 400; number += 1) {
        destination.write(line(number));
        if (number % 7 === 0) await settled();
      }
      await settled();
      expect(destination.droppedLines).toBe(400);
      expect(file.text).toBe('');
      file.limit = Infinity;
      destination.write(line(400));
      await settled();
      expect(file.text).toBe(line(400));
      expect(destination.droppedLines).toBe(400);
    },
  );

  it('tries each batch of lines once while they cannot be written', async () => {
    const { file, destination } = limitedFile('ENOSPC');
    destination.write(line(1));
    await settled();
    expect(file.attempts).toBe(1);
  });

  it('starts a new line after one that was written in part', async () => {
    const { file, destination } = limitedFile('ENOSPC');
    file.limit = line(1).length + 4;
    destination.write(line(1));
    destination.write(line(2));
    destination.write(line(3));
    await settled();
    file.limit = Infinity;
    destination.write(line(4));
    await settled();
    expect(file.text).toBe(`${line(1)}${line(2).slice(0, 4)}\n${line(4)}`);
    expect(destination.droppedLines).toBe(2);
  });

  it('writes a line in several parts', async () => {
    const parts: string[] = [];
    const destination = new LogDestination((buffer, done) => {
      parts.push(buffer.subarray(0, 3).toString());
      setImmediate(() => done(null, Math.min(3, buffer.length)));
    });
    destination.write(line(1));
    destination.write(line(2));
    await settled();
    expect(parts.join('')).toBe(line(1) + line(2));
    expect(destination.droppedLines).toBe(0);
  });

  it('keeps the lines while the reader stalls, up to the limit, and writes them when it reads again', async () => {
    let stalls = true;
    let text = '';
    const destination = new LogDestination(
      (buffer, done) => {
        if (!stalls) text += buffer.toString();
        const error = stalls ? Object.assign(new Error(), { code: 'EAGAIN' }) : null;
        setImmediate(() => done(error, stalls ? 0 : buffer.length));
      },
      3 * line(1).length,
    );
    destination.write(line(1));
    await settled();
    for (const number of [2, 3, 4, 5]) destination.write(line(number));
    expect(destination.droppedLines).toBe(1);
    stalls = false;
    await expect.poll(() => text).toBe([1, 2, 3, 4].map(line).join(''));
  });

  it('hands over the waiting lines at the end of the process, without those in flight', () => {
    const destination = new LogDestination(() => undefined);
    destination.write(line(1));
    destination.write(line(2));
    expect(destination.takeWaiting().toString()).toBe(line(2));
  });
});
