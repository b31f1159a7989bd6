import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { Scopes } from './scopes.decorator.js';

@Injectable()
export class ScopesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const scope = this.reflector.get(Scopes, context.getHandler());
    const { caller } = context.switchToHttp().getRequest<Request>();
    return caller?.scopes.includes(scope) ?? false;
  }
}
