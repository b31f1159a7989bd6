import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { SystemClock } from '../../../../platform/clock.js';
import { createSmsSender } from './sms-senders.js';

const MESSAGE = {
  id: '8a5f2c1e-4b7d-4e21-9c3a-6f0d1b2e3a4c',
  to: '+14155552671',
  text: 'Ваш код & code: 123456\n\n@example.com #123456',
};
const EXPIRES_AT = new Date('2026-11-21T09:35:00.000Z');

const folders: string[] = [];

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function fileSender() {
  const folder = await mkdtemp(join(tmpdir(), 'sms-'));
  folders.push(folder);
  const file = join(folder, 'not', 'yet', 'sms.jsonl');
  return { folder, file, sender: createSmsSender({ sender: 'file', file }, new SystemClock()) };
}

describe('Console sender', () => {
  it('writes one readable line per message', async () => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    await createSmsSender({ sender: 'console' }, new SystemClock()).send(MESSAGE, EXPIRES_AT);
    const written = write.mock.calls.map(([chunk]) => chunk);
    write.mockRestore();
    expect(written).toEqual(['SMS to +14155552671: Ваш код & code: 123456 @example.com #123456\n']);
  });
});

describe('File sender', () => {
  it('appends one JSON line per message, also when messages are sent concurrently', async () => {
    const { file, sender } = await fileSender();
    const texts = Array.from({ length: 20 }, (_, index) => `${MESSAGE.text} ${index}`);
    await sender.send(MESSAGE, EXPIRES_AT);
    await Promise.all(texts.map((text) => sender.send({ ...MESSAGE, text }, EXPIRES_AT)));

    const [first, ...others] = (await readFile(file, 'utf8')).trimEnd().split('\n');
    expect(first).toBe(JSON.stringify({ to: MESSAGE.to, text: MESSAGE.text }));
    const expected = texts.map((text) => JSON.stringify({ to: MESSAGE.to, text }));
    expect(others.toSorted()).toEqual(expected.toSorted());
  });

  it('creates a file that only its owner can read', async () => {
    const { file, sender } = await fileSender();
    await sender.send(MESSAGE, EXPIRES_AT);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('rejects when the line cannot be written', async () => {
    const { folder } = await fileSender();
    const sender = createSmsSender({ sender: 'file', file: folder }, new SystemClock());
    await expect(sender.send(MESSAGE, EXPIRES_AT)).rejects.toThrow('EISDIR');
  });
});
