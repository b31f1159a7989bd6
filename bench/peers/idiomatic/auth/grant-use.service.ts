import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository } from 'typeorm';
import { Grant } from './entities/grant.entity.js';

const MINUTE_MS = 60_000;

/** Stores the last use of grants in the background, at most once a minute for each grant. */
@Injectable()
export class GrantUseService implements OnApplicationShutdown {
  private readonly logger = new Logger(GrantUseService.name);
  private pending = new Set<string>();
  /** Time of the last update of each grant, in milliseconds since 1970, oldest first. */
  private readonly updatedAt = new Map<string, number>();

  constructor(@InjectRepository(Grant) private readonly grants: Repository<Grant>) {}

  markUsed(id: string): void {
    if (!this.updatedAt.has(id)) this.pending.add(id);
  }

  @Interval(1000)
  async write(): Promise<void> {
    const now = new Date();
    this.deleteBefore(now.getTime() - MINUTE_MS);
    if (this.pending.size === 0) return;
    const ids = [...this.pending];
    this.pending = new Set();
    for (const id of ids) this.updatedAt.set(id, now.getTime());
    try {
      await this.grants.update({ id: In(ids) }, { lastUsedAt: now });
    } catch (error) {
      this.logger.error('Could not store the last use of grants.', error);
      for (const id of ids) this.updatedAt.delete(id);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.write();
  }

  private deleteBefore(time: number): void {
    for (const [id, at] of this.updatedAt) {
      if (at > time) break;
      this.updatedAt.delete(id);
    }
  }
}
