import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import type { Scope } from './scopes.js';
import { InsufficientScope } from './access.errors.js';
import { ANY_SCOPE, PUBLIC, REQUIRED_SCOPE } from './scopes.decorator.js';

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
