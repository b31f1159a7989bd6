import { Catch, Injectable, type NestMiddleware } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { APPS_PATH, type RecoveryLink } from '../browser/oauth-pages.js';
import { PageErrorFilter } from '../browser/page-error.filter.js';
import { sendRedirect } from '../protocol/authorization-response.js';
import { isWellEncoded } from '../protocol/parameters.js';

/** What the addresses of the account's pages begin with. */
export const ACCOUNT_PATH = '/account';

/** The page of a connected app, or of all. */
export function addressOf(clientId: string | undefined): string {
  return clientId === undefined ? APPS_PATH : `${APPS_PATH}/${clientId}`;
}

/** Answers errors of the account's pages, where no app waits to be gone back to. */
@Catch()
export class AccountErrorFilter extends PageErrorFilter {
  protected override readonly wayOn: RecoveryLink = {
    startAgain: ({ wayOn }) => wayOn.toAccount,
    footer: ({ wayOn }) => wayOn.ofAccount,
    link: { href: APPS_PATH, text: ({ apps }) => apps.title },
  };
}

/** Leads a browser to the list whose address the router could not decode, and would refuse with an error for programs. */
@Injectable()
export class UnreadablePathMiddleware implements NestMiddleware {
  use({ method, originalUrl }: Request, response: Response, next: NextFunction): void {
    const [path = ''] = originalUrl.split('?');
    if (method === 'POST' || isWellEncoded(path)) next();
    else sendRedirect(response, APPS_PATH);
  }
}
