import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { AccessTokenVerifier } from './caller.js';
import {
  InvalidToken,
  SeveralCredentials,
  Unauthorized,
  InsufficientScope,
} from './access.errors.js';
import { PUBLIC, ANY_SCOPE, REQUIRED_SCOPE } from './scopes.decorator.js';
import type { Scope } from './scopes.js';

const BEARER = /^bearer +(\S.*)$/i;

/** Authenticates the request by its bearer token (RFC 6750 §2.1). Runs before the scope check and before the body is read. */
@Injectable()
export class BearerGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly verifier: AccessTokenVerifier,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.reflector.getAllAndOverride(PUBLIC, [context.getHandler(), context.getClass()]))
      return true;
    const request = context.switchToHttp().getRequest<Request>();
    const access = await this.verifier.verify(bearerToken(request));
    const { requestId, receivedAt } = request.context;
    request.context.clientId = access.clientId;
    await request.context.permit?.assign(access.clientId);
    request.context.caller = { ...access, requestId, receivedAt };
    return true;
  }
}

/**
 * The token of the Authorization header.
 * @throws Unauthorized if there is no token; SeveralCredentials if the header is repeated or the query also has a token; InvalidToken
 * if the token is malformed
 */
function bearerToken(request: Request): string {
  const { authorization } = request.headers;
  if (authorization !== undefined && isRepeated(request)) throw new SeveralCredentials();
  const token = BEARER.exec(authorization?.trim() ?? '')?.[1];
  if (token === undefined) throw new Unauthorized();
  if (request.url.includes('?') && request.query['access_token'] !== undefined) {
    throw new SeveralCredentials(
      'Send the access token in the Authorization header only, not in the query too.',
    );
  }
  if (/[\s,]/.test(token)) throw InvalidToken.malformed();
  return token;
}

/** Node drops all `Authorization` headers but the first from `headers`. */
function isRepeated({ rawHeaders }: Request): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.toLowerCase() === 'authorization') count += 1;
  return count > 1;
}

/** Requires the scope of the route. Throws for a route that declares none of `@Scopes`, `@AnyScope` and `@Public`. */
@Injectable()
export class ScopesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const targets = [context.getHandler(), context.getClass()];
    if (this.reflector.getAllAndOverride(PUBLIC, targets)) return true;
    const scope = this.reflector.getAllAndOverride<Scope | typeof ANY_SCOPE | undefined>(
      REQUIRED_SCOPE,
      targets,
    );
    if (scope === undefined) {
      throw new Error(`${context.getClass().name}.${context.getHandler().name} declares no scope.`);
    }
    const { caller } = context.switchToHttp().getRequest<Request>().context;
    if (scope === ANY_SCOPE) return caller !== undefined;
    if (!caller?.scopes.includes(scope)) throw new InsufficientScope(scope);
    return true;
  }
}
