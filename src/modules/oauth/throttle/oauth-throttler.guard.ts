import {
  applyDecorators,
  Injectable,
  SetMetadata,
  UseGuards,
  type ExecutionContext,
} from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerLimitDetail } from '@nestjs/throttler';
import { TooManyAttempts } from '../oauth.errors.js';
import type { ThrottledRoutes } from './oauth-budgets.js';

const ROUTES = 'oauth:throttled-routes';

/** The ThrottlerGuard of the OAuth routes: it answers "Too many attempts" in the protocol's own shape. */
@Injectable()
export class OAuthThrottlerGuard extends ThrottlerGuard {
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
export function throttledRoutes(context: ExecutionContext): ThrottledRoutes | undefined {
  return (
    Reflect.getMetadata(ROUTES, context.getHandler()) ??
    Reflect.getMetadata(ROUTES, context.getClass())
  );
}
