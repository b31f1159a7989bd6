import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { ApiCall } from './api-call.entity.js';

const BATCH = 500;
const MOST_WAITING = 10_000;

/** Keeps calls in memory and writes them in batches, so that no answer waits for it. */
@Injectable()
export class CallsService implements OnApplicationShutdown {
  private readonly logger = new Logger(CallsService.name);
  private waiting: ApiCall[] = [];

  constructor(@InjectRepository(ApiCall) private readonly calls: Repository<ApiCall>) {}

  record(call: ApiCall): void {
    if (this.waiting.length < MOST_WAITING) this.waiting.push(call);
  }

  @Interval(1000)
  async write(): Promise<void> {
    const taken = this.waiting;
    this.waiting = [];
    while (taken.length > 0) {
      const batch = taken.splice(0, BATCH);
      try {
        await this.calls.insert(batch);
      } catch (error) {
        this.logger.error('Calls could not be recorded yet.', error);
        this.waiting = [...batch, ...taken, ...this.waiting];
        return;
      }
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.write();
  }
}
