import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { SECOND } from '../clock.js';

/** Writes records from memory to the database once a second, beside the requests. */
export abstract class BackgroundWriter implements OnModuleInit, OnApplicationShutdown {
  private timer?: NodeJS.Timeout;
  private writing: Promise<void> = Promise.resolve();
  private next?: Promise<void>;

  onModuleInit(): void {
    this.timer = setInterval(() => void this.flush(), SECOND).unref();
  }

  /** After the last open request and before the data source is closed, which belongs to a global module: those end last. */
  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.flush();
  }

  /** Writes the waiting records after those that are being written. Records that cannot be written stay. Never rejects. */
  flush(): Promise<void> {
    this.next ??= this.writing.then(() => {
      this.next = undefined;
      this.writing = this.writeWaiting();
      return this.writing;
    });
    return this.next;
  }

  /** Must not reject. */
  protected abstract writeWaiting(): Promise<void>;
}
