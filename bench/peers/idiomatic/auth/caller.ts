import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { User } from '../users/user.entity.js';
import type { App } from './entities/app.entity.js';

/** The user and app of the access token. */
export interface Caller {
  user: User;
  app: App;
  scopes: string[];
}

declare global {
  namespace Express {
    interface Request {
      /** Set by `AuthGuard`. */
      caller?: Caller;
    }
  }
}

export const CallerOf = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<Request>().caller,
);
