import { HttpException, HttpStatus, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LessThan, Repository, type EntityManager } from 'typeorm';
import type { App } from '../auth/entities/app.entity.js';
import { QuotaUsage } from './quota-usage.entity.js';

/** Monthly post limit of apps without a plan; the same variable as for the service. */
const DEFAULT_LIMIT = Number(process.env.QUOTA_DEFAULT_LIMIT ?? 100);

/** The app has no row for this month yet. */
export class MonthNotOpen extends Error {}

@Injectable()
export class QuotaService {
  constructor(@InjectRepository(QuotaUsage) private readonly usage: Repository<QuotaUsage>) {}

  /**
   * Counts one post towards the monthly quota of the app.
   * @throws MonthNotOpen if the month has no row; HttpException with 429 if the limit is reached
   */
  async spend(manager: EntityManager, app: App, now: Date): Promise<void> {
    const month = { clientId: app.clientId, period: periodOf(now) };
    const limit = limitOf(app);
    const belowLimit = limit === null ? month : { ...month, used: LessThan(limit) };
    const { affected } = await manager.increment(QuotaUsage, belowLimit, 'used', 1);
    if (affected === 1) return;
    if (!(await manager.existsBy(QuotaUsage, month))) throw new MonthNotOpen();
    throw new HttpException('The monthly limit of posts is reached.', HttpStatus.TOO_MANY_REQUESTS);
  }

  /** Inserts the row of the app's month unless it exists. */
  async open({ clientId }: App, now: Date): Promise<void> {
    await this.usage
      .createQueryBuilder()
      .insert()
      .values({ clientId, period: periodOf(now), used: 0 })
      .orIgnore()
      .execute();
  }

  /** The `RateLimit` headers; none without a limit. */
  async headers(app: App): Promise<Record<string, string>> {
    const limit = limitOf(app);
    if (limit === null) return {};
    const now = new Date();
    const month = { clientId: app.clientId, period: periodOf(now) };
    const { used } = (await this.usage.findOneBy(month)) ?? { used: 0 };
    const start = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
    const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
    const secondsLeft = Math.ceil((end - now.getTime()) / 1000);
    return {
      'RateLimit-Policy': `"posts-month";q=${limit};w=${(end - start) / 1000}`,
      RateLimit: `"posts-month";r=${Math.max(0, limit - used)};t=${secondsLeft}`,
    };
  }
}

function limitOf({ quota }: App): number | null {
  return quota ? quota.monthlyPostLimit : DEFAULT_LIMIT;
}

function periodOf(time: Date): string {
  return time.toISOString().slice(0, 7);
}
