import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { notAPage } from '../page-error.js';

/**
 * Refuses what a browser loads as a part of another page (Fetch Metadata), such as an image: any site could spend the budget of
 * whoever looks at it so.
 */
@Injectable()
export class NavigationGuard implements CanActivate {
  /** @throws PageError */
  canActivate(context: ExecutionContext): boolean {
    const loadedAs = context.switchToHttp().getRequest<Request>().get('sec-fetch-dest');
    if (loadedAs !== undefined && loadedAs !== 'document') throw notAPage();
    return true;
  }
}
