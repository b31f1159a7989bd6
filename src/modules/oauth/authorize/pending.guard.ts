import {
  createParamDecorator,
  Injectable,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import type { Request } from 'express';
import { Parameters } from '../protocol/parameters.js';
import { BrowserCookies } from '../protocol/browser-cookies.js';
import { AuthorizationsService, type Pending } from './authorizations.service.js';

declare global {
  namespace Express {
    interface Request {
      pending?: Pending;
    }
  }
}

/** Finds the authorization request that a form belongs to. Without one, no form of ours does anything. */
@Injectable()
export class PendingGuard implements CanActivate {
  constructor(
    private readonly authorizations: AuthorizationsService,
    private readonly cookies: BrowserCookies,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const form = new Parameters(request.body);
    const binding = { transaction: form.get('transaction'), token: form.get('token') };
    request.pending = await this.authorizations.resume(binding, this.cookies.browserHash(request));
    return true;
  }
}

/** The authorization request that the form belongs to. */
export const PendingOf = createParamDecorator((_: unknown, context: ExecutionContext): Pending => {
  const { pending } = context.switchToHttp().getRequest<Request>();
  if (!pending) throw new Error('Only a form of ours belongs to an authorization request.');
  return pending;
});
