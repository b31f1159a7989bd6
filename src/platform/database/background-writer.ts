import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { SECOND } from '../clock.js';

/** Writes every second, beside the requests, what waits in memory. */
export abstract class BackgroundWriter implements OnModuleInit, OnApplicationShutdown {
  private timer?: NodeJS.Timeout;
  private writing: Promise<void> = Promise.resolve();
  private next?: Promise<void>;

  onModuleInit(): void {
    this.timer = setInterval(() => void this.flush(), SECOND).unref();
  }

  /** After the last open request, and before the data source goes: it belongs to a global module, and those end last. */
  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.flush();
  }

  /** Writes what waits, after what is being written. What cannot be written stays for the next time. Never fails. */
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
