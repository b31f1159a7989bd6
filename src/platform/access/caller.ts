import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { Scope } from './scopes.js';

export interface Access {
  userId: string;
  clientId: string;
  grantId: string;
  scopes: readonly Scope[];
  /** Posts that the app may publish per calendar month; null is unlimited. */
  postLimit: number | null;
}

/** The access of a request, with the id and time of the request. */
export interface Caller extends Access {
  requestId: string;
  receivedAt: Date;
}

declare module '../request-context.js' {
  interface RequestContext {
    caller?: Caller;
  }
}

/** The caller of a handler that is not public. */
export const CallerOf = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<Request>().context;
  if (!caller) throw new Error('A public route has no caller.');
  return caller;
});

/** The API modules' view of the authorization server, which implements it. */
export abstract class AccessTokenVerifier {
  /** @throws InvalidToken when the token is malformed, unknown, expired or revoked, or its app or user is off */
  abstract verify(token: string): Promise<Access>;
}
