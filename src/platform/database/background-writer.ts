import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { SECOND } from '../clock.js';

/** Writes records from memory to the database every second, in the background. */
export abstract class BackgroundWriter implements OnModuleInit, OnApplicationShutdown {
  private timer?: NodeJS.Timeout;
  private writing: Promise<void> = Promise.resolve();
  private next?: Promise<void>;

  onModuleInit(): void {
    this.timer = setInterval(() => void this.flush(), SECOND).unref();
  }

  /** Runs after the last request and before the data source closes, because Nest shuts down global modules last. */
  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.flush();
  }

  /** Writes the waiting records once the current write is done. Never rejects. */
  flush(): Promise<void> {
    this.next ??= this.writing.then(() => {
      this.next = undefined;
      this.writing = this.writeWaiting();
      return this.writing;
    });
    return this.next;
  }

  /** Writes all waiting records. Must not reject. Records that cannot be written must wait for the next call. */
  protected abstract writeWaiting(): Promise<void>;
}
