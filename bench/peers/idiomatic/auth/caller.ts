import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { User } from '../users/user.entity.js';
import type { App } from './entities/app.entity.js';

/** Who calls: a user through an app. */
export interface Caller {
  user: User;
  app: App;
  scopes: string[];
}

declare global {
  namespace Express {
    interface Request {
      /** Set by the guard. */
      caller?: Caller;
    }
  }
}

export const CallerOf = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<Request>().caller,
);
