import {
  createParamDecorator,
  Injectable,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import type { Request } from 'express';
import type { Membership } from '../oauth-pages.js';
import { Parameters } from '../parameters.js';
import { Memberships } from './memberships.js';

declare global {
  namespace Express {
    interface Request {
      membership?: Membership;
    }
  }
}

/** Finds the session that a form of the account's pages was made for. */
@Injectable()
export class SessionFormGuard implements CanActivate {
  constructor(private readonly memberships: Memberships) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const token = new Parameters(request.body).get('token');
    request.membership = await this.memberships.ofForm(request, token);
    return true;
  }
}

/** Whose form it is. */
export const MembershipOf = createParamDecorator(
  (_: unknown, context: ExecutionContext): Membership => {
    const { membership } = context.switchToHttp().getRequest<Request>();
    if (!membership) throw new Error('Only a form of ours belongs to a session.');
    return membership;
  },
);
