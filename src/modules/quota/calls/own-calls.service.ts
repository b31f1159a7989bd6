import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../platform/access/caller.js';
import { addMilliseconds, Clock, DAY, HOUR, MINUTE } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { type ListPaging, type Part, partOf } from '../../../platform/database/list-page.js';
import type { TimeRange } from '../../../platform/database/rows-in-pages.js';
import { NotFound } from '../../../platform/errors.js';
import { DEV_V1 } from '../../../platform/http/developer-api.js';
import { isId, timeOf } from '../../../platform/ids.js';
import type { ApiCall } from '../quota.entities.js';
import { type CallSearch, QuotaRepository } from '../quota.repository.js';
import { callLogStart } from './usage-rollup.service.js';

export const REQUESTS = `${DEV_V1}/requests`;

/** The calls of these endpoints are not listed, so that polling does not fill the list. */
const ROUTES = ['GET', 'HEAD'].flatMap((method) => [
  `${method} /${REQUESTS}`,
  `${method} /${REQUESTS}/:id`,
]);

/** How much earlier and later than the request its call may be recorded: clocks step, bodies are slow, and posts have their own time. */
const EARLIER_MS = MINUTE;
const LATER_MS = HOUR;

/** One error for requests that do not exist, that are not recorded yet, and for those of other apps and users. */
export class RequestNotFound extends NotFound {
  constructor() {
    super(
      'The app has sent no request with this id for this user, or it is no longer kept. A new request is found some seconds after its response.',
    );
  }
}

type Owner = Pick<Caller, 'clientId' | 'userId'>;

/** What an app may read of the call log: its own calls for the user of the token. */
@Injectable()
export class OwnCalls {
  constructor(
    private readonly repository: QuotaRepository,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** Newest first. @param paging.before a request id; one that the app has no request for is a point in time */
  async list(owner: Owner, { limit, before }: ListPaging): Promise<Part<ApiCall>> {
    const range = this.kept();
    const last = before === undefined ? null : await this.find(owner, before);
    if (before !== undefined && last === null && timeOf(before) < range.to)
      range.to = timeOf(before);
    const paging = { limit, before: last?.id };
    return partOf(await this.findCalls(owner, { range }, paging), paging);
  }

  /** @throws RequestNotFound */
  async get(owner: Owner, requestId: string): Promise<ApiCall> {
    const call = await this.find(owner, requestId);
    if (!call) throw new RequestNotFound();
    return call;
  }

  private async find(owner: Owner, requestId: string): Promise<ApiCall | null> {
    if (!isId('req', requestId)) return null;
    const sentAt = timeOf(requestId);
    const kept = this.kept();
    // Databases reject times that they cannot store, and an invented id may contain one.
    if (sentAt < kept.from || sentAt >= kept.to) return null;
    const range = {
      from: addMilliseconds(sentAt, -EARLIER_MS),
      to: addMilliseconds(sentAt, LATER_MS),
    };
    const [call] = await this.findCalls(owner, { range, requestId }, { limit: 1 });
    return call ?? null;
  }

  private findCalls(
    // Not spread: a caller has the id of its own request, too.
    { clientId, userId }: Owner,
    search: Pick<CallSearch, 'range' | 'requestId'>,
    paging: ListPaging,
  ): Promise<ApiCall[]> {
    const own = { ...search, clientId, userId, exceptRoutes: ROUTES };
    return this.repository.findCallsOfUser(own, paging);
  }

  /** As long as the call log keeps calls, and until tomorrow, because the clock of another process may be ahead. */
  private kept(): TimeRange {
    const now = this.clock.now();
    return { from: callLogStart(now, this.config), to: addMilliseconds(now, DAY) };
  }
}
