import { appendFile, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SmsSender, type TextMessage } from './sms-sender.js';

/** Shows each message as one line on standard output. For development: it prints one-time passwords. */
export class ConsoleSmsSender extends SmsSender {
  override async send({ to, text }: TextMessage): Promise<void> {
    process.stdout.write(`SMS to ${to}: ${text.replace(/\s+/g, ' ')}\n`);
  }
}

const OWNER_ONLY = 0o600;

/**
 * Appends each message to a file as one JSON line, `{"to":…,"text":…}`. A missing folder is made;
 * a new file can be read by its owner only, since it holds phone numbers and one-time passwords.
 */
export class FileSmsSender extends SmsSender {
  constructor(private readonly file: string) {
    super();
  }

  override async send({ to, text }: TextMessage): Promise<void> {
    await mkdir(dirname(this.file), { recursive: true });
    await appendFile(this.file, `${JSON.stringify({ to, text })}\n`, { mode: OWNER_ONLY });
  }
}
