import { HttpException, HttpStatus, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LessThan, Repository, type EntityManager } from 'typeorm';
import type { App } from '../auth/entities/app.entity.js';
import { QuotaUsage } from './quota-usage.entity.js';

/** Posts per month for apps without an arrangement, as the service is told it. */
const DEFAULT_LIMIT = Number(process.env.QUOTA_DEFAULT_LIMIT ?? 100);

/** The app has no row for this month yet. */
export class MonthNotOpen extends Error {}

@Injectable()
export class QuotaService {
  constructor(@InjectRepository(QuotaUsage) private readonly usage: Repository<QuotaUsage>) {}

  /**
   * Spends one post of the app's month.
   * @throws MonthNotOpen when the month has no row; HttpException with 429 when the limit is reached
   */
  async spend(manager: EntityManager, app: App, now: Date): Promise<void> {
    const month = { clientId: app.clientId, period: periodOf(now) };
    const limit = limitOf(app);
    const isLeft = limit === null ? month : { ...month, used: LessThan(limit) };
    const { affected } = await manager.increment(QuotaUsage, isLeft, 'used', 1);
    if (affected === 1) return;
    if (!(await manager.existsBy(QuotaUsage, month))) throw new MonthNotOpen();
    throw new HttpException('The posts of this month are spent.', HttpStatus.TOO_MANY_REQUESTS);
  }

  /** Opens the app's month at zero, unless somebody has. */
  async open({ clientId }: App, now: Date): Promise<void> {
    await this.usage
      .createQueryBuilder()
      .insert()
      .values({ clientId, period: periodOf(now), used: 0 })
      .orIgnore()
      .execute();
  }

  /** What is left of the app's month, as headers; none where the app may publish without limit. */
  async headers(app: App): Promise<Record<string, string>> {
    const limit = limitOf(app);
    if (limit === null) return {};
    const now = new Date();
    const month = { clientId: app.clientId, period: periodOf(now) };
    const { used } = (await this.usage.findOneBy(month)) ?? { used: 0 };
    const start = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
    const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
    const left = Math.ceil((end - now.getTime()) / 1000);
    return {
      'RateLimit-Policy': `"posts-month";q=${limit};w=${(end - start) / 1000}`,
      RateLimit: `"posts-month";r=${Math.max(0, limit - used)};t=${left}`,
    };
  }
}

function limitOf({ quota }: App): number | null {
  return quota ? quota.monthlyPostLimit : DEFAULT_LIMIT;
}

function periodOf(time: Date): string {
  return time.toISOString().slice(0, 7);
}
