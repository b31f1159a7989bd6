import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository } from 'typeorm';
import { Grant } from './entities/grant.entity.js';

const MINUTE_MS = 60_000;

/** Writes when grants were last used, each at most once a minute, beside the requests. */
@Injectable()
export class GrantUseService implements OnApplicationShutdown {
  private readonly logger = new Logger(GrantUseService.name);
  private waiting = new Set<string>();
  /** When each grant was last written, as milliseconds since the epoch, oldest first. */
  private readonly written = new Map<string, number>();

  constructor(@InjectRepository(Grant) private readonly grants: Repository<Grant>) {}

  note(id: string): void {
    if (!this.written.has(id)) this.waiting.add(id);
  }

  @Interval(1000)
  async write(): Promise<void> {
    const now = new Date();
    this.forgetBefore(now.getTime() - MINUTE_MS);
    if (this.waiting.size === 0) return;
    const ids = [...this.waiting];
    this.waiting = new Set();
    for (const id of ids) this.written.set(id, now.getTime());
    try {
      await this.grants.update({ id: In(ids) }, { lastUsedAt: now });
    } catch (error) {
      this.logger.error('The last use of grants could not be written.', error);
      for (const id of ids) this.written.delete(id);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.write();
  }

  private forgetBefore(moment: number): void {
    for (const [id, at] of this.written) {
      if (at > moment) break;
      this.written.delete(id);
    }
  }
}
