import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { Scope } from './scopes.js';

export interface SavedLocation {
  latitude: number | null;
  longitude: number | null;
  neighborhood: string | null;
}

/** What an access token permits, and for whom. */
export interface Access {
  userId: string;
  clientId: string;
  /** Whether the app is a test app. */
  test: boolean;
  grantId: string;
  scopes: readonly Scope[];
  /** Maximum posts of the app per calendar month; null is unlimited. */
  postLimit: number | null;
  /** Where the user lives. A post has this location if the app sends none (product requirements, section 4.2, rule 1). */
  savedLocation: SavedLocation;
}

/** The access of the current request. */
export interface Caller extends Access {
  requestId: string;
  receivedAt: Date;
  /** Set for a publish, whose transaction records the call unless it is a replay. The call log records all other calls. */
  publish?: Promise<{ replayed: boolean }>;
}

declare module '../request-context.js' {
  interface RequestContext {
    caller?: Caller;
  }
}

/** Parameter decorator: the caller of a route that is not public. */
export const CallerOf = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<Request>().context;
  if (!caller) throw new Error('A public route has no caller.');
  return caller;
});

/** Port of the API modules, implemented by the authorization server. */
export abstract class AccessTokenVerifier {
  /** @throws InvalidToken if the token is malformed, unknown, expired or revoked, its app is disabled, or its user is blocked */
  abstract verify(token: string): Promise<Access>;
}
