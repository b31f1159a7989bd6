import { Injectable } from '@nestjs/common';
import { Clock } from '../../../common/clock.js';
import { isId, newId } from '../../../common/ids.js';
import { AppConfig } from '../../../config/app-config.js';
import type { FormBinding } from '../../../pages/views.js';
import { expiredTransaction, ForeignToken, noCookies } from '../page-error.js';
import { endOfSignIn } from '../sign-in-end.js';
import { FormTokens, tokensEqual } from './form-tokens.js';

/** Sign-ins to the account's own pages. Each is its id, which holds its time, and a token that nobody else can make. */
@Injectable()
export class AccountSignIns {
  constructor(
    private readonly tokens: FormTokens,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** @param next client id of the app whose page was asked for */
  start(browserHash: string, next: string | undefined): FormBinding {
    const transaction = newId('txn', this.clock.now());
    return { transaction, token: this.tokens.ofSignIn(transaction, browserHash), next };
  }

  /**
   * The sign-in that a form belongs to.
   * @throws PageError when it is another browser's, or expired
   */
  resume(
    { transaction, token, next }: Partial<FormBinding>,
    browserHash: string | undefined,
  ): FormBinding {
    if (browserHash === undefined) throw noCookies();
    if (!isId('txn', transaction)) throw expiredTransaction();
    const own = this.tokens.ofSignIn(transaction, browserHash);
    if (token === undefined || !tokensEqual(own, token)) throw new ForeignToken();
    if (endOfSignIn(transaction, this.config) <= this.clock.now()) throw expiredTransaction();
    return { transaction, token, next: isId('svc_app', next) ? next : undefined };
  }
}
