import {
  applyDecorators,
  Injectable,
  SetMetadata,
  UseGuards,
  type ExecutionContext,
} from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerLimitDetail } from '@nestjs/throttler';
import type { Request } from 'express';
import { TooManyAttempts } from '../protocol/oauth.errors.js';
import type { ThrottledRoutes } from './rate-limits.js';

declare global {
  namespace Express {
    interface Request {
      /** The budgets that the request is under, once they were asked. */
      throttledRoutes?: ThrottledRoutes;
    }
  }
}

const ROUTES = 'oauth:throttled-routes';

/** The ThrottlerGuard of the OAuth routes: it answers "Too many attempts" in the protocol's own shape. */
@Injectable()
export class OAuthThrottlerGuard extends ThrottlerGuard {
  override canActivate(context: ExecutionContext): Promise<boolean> {
    context.switchToHttp().getRequest<Request>().throttledRoutes = throttledRoutes(context);
    return super.canActivate(context);
  }

  protected override throwThrottlingException(
    _: ExecutionContext,
    detail: ThrottlerLimitDetail,
  ): Promise<void> {
    throw new TooManyAttempts(detail.timeToBlockExpire);
  }
}

/** Puts a route under the budgets of its kind. */
export function Throttled(routes: ThrottledRoutes): MethodDecorator & ClassDecorator {
  return applyDecorators(SetMetadata(ROUTES, routes), UseGuards(OAuthThrottlerGuard));
}

/** Which budgets the route is under. */
function throttledRoutes(context: ExecutionContext): ThrottledRoutes | undefined {
  return (
    Reflect.getMetadata(ROUTES, context.getHandler()) ??
    Reflect.getMetadata(ROUTES, context.getClass())
  );
}
