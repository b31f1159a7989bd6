import {
  applyDecorators,
  Injectable,
  UseGuards,
  UseInterceptors,
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { tap, type Observable } from 'rxjs';
import { MINUTE, SECOND } from '../clock.js';
import { AppConfig } from '../config/app-config.js';
import { AppError } from '../errors.js';
import { CallLimitStorage } from '../http/call-limit-storage.js';
import { rateLimitHeaders, WRITES_MINUTE } from '../http/developer-api.js';
import { ApiErrors } from '../http/errors/api-errors.js';
import { retryAfter } from '../retry-after.js';

/** An app has used its writes of a minute for a user. */
export class TooManyRequests extends AppError {
  constructor(limit: number, retryAfterSeconds: number) {
    const seconds = retryAfterSeconds === 1 ? 'second' : 'seconds';
    super(
      'too_many_requests',
      `The app may send at most ${limit} comments and deletions per minute for a user. Try again in ${retryAfterSeconds} ${seconds}.`,
      {
        headers: {
          ...retryAfter(retryAfterSeconds),
          ...writeLimitHeaders(limit, 0, retryAfterSeconds),
        },
      },
    );
  }
}

function writeLimitHeaders(
  quota: number,
  remaining: number,
  resetSeconds: number,
): Record<string, string> {
  const windowSeconds = MINUTE / SECOND;
  return rateLimitHeaders({ policy: WRITES_MINUTE, quota, windowSeconds, remaining, resetSeconds });
}

declare module '../request-context.js' {
  interface RequestContext {
    /** The RateLimit headers of a write that the limit allows. */
    writeLimitHeaders?: Record<string, string>;
  }
}

/** Counts a request against the limit of its app and user. Runs after authentication and scope check, and before the body is read. */
@Injectable()
class WriteLimitGuard implements CanActivate {
  constructor(
    private readonly config: AppConfig,
    private readonly storage: CallLimitStorage,
  ) {}

  /** @throws TooManyRequests */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const limit = this.config.rateLimits['grant-writes-per-minute'];
    if (limit === 0) return true;
    const { context: request } = context.switchToHttp().getRequest<Request>();
    if (!request.caller) throw new Error('A public route has no caller.');
    const { clientId, userId } = request.caller;
    const key = `${WRITES_MINUTE}|${clientId}|${userId}`;
    const state = await this.storage.increment(key, MINUTE, limit);
    if (state.isBlocked) throw new TooManyRequests(limit, state.timeToBlockExpire);
    request.writeLimitHeaders = writeLimitHeaders(
      limit,
      limit - state.totalHits,
      state.timeToExpire,
    );
    return true;
  }
}

/** Sends the RateLimit headers with successful responses only, as for the monthly quota. */
@Injectable()
class WriteLimitHeaders implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const { writeLimitHeaders: headers } = http.getRequest<Request>().context;
    return next.handle().pipe(tap(() => http.getResponse<Response>().set({ ...headers })));
  }
}

/**
 * Limits the writes of each app for each user per minute, over all operations with this decorator and all grants. Counts in the memory
 * of the process, so the limit costs no database query. Publishing has a monthly quota instead.
 */
export const LimitWrites = (): MethodDecorator =>
  applyDecorators(
    UseGuards(WriteLimitGuard),
    UseInterceptors(WriteLimitHeaders),
    ApiErrors(new TooManyRequests(60, 42)),
  );
