import { Catch } from '@nestjs/common';
import { APPS_PATH, type WayOn } from '../oauth-pages.js';
import { PageErrorFilter } from '../page-error.filter.js';

/** Answers errors of the account's pages, where no app waits to be gone back to. */
@Catch()
export class AccountErrorFilter extends PageErrorFilter {
  protected override readonly wayOn: WayOn = {
    startAgain: ({ wayOn }) => wayOn.toAccount,
    footer: ({ wayOn }) => wayOn.ofAccount,
    link: { href: APPS_PATH, text: ({ apps }) => apps.title },
  };
}
