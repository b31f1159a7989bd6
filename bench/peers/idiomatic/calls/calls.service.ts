import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { ApiCall } from './api-call.entity.js';

const BATCH = 500;
const MAX_PENDING = 10_000;

/** Buffers calls and writes them in batches, so that no response waits for the write. */
@Injectable()
export class CallsService implements OnApplicationShutdown {
  private readonly logger = new Logger(CallsService.name);
  private pending: ApiCall[] = [];

  constructor(@InjectRepository(ApiCall) private readonly calls: Repository<ApiCall>) {}

  record(call: ApiCall): void {
    if (this.pending.length < MAX_PENDING) this.pending.push(call);
  }

  @Interval(1000)
  async write(): Promise<void> {
    const calls = this.pending;
    this.pending = [];
    while (calls.length > 0) {
      const batch = calls.splice(0, BATCH);
      try {
        await this.calls.insert(batch);
      } catch (error) {
        this.logger.error('Could not record calls; retrying.', error);
        this.pending = [...batch, ...calls, ...this.pending];
        return;
      }
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.write();
  }
}
