import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { Membership } from '../oauth-pages.js';
import { ForeignToken, signedOut } from '../page-error.js';
import { BrowserCookies } from '../sign-in/browser-cookies.js';
import { SignInService } from '../sign-in/sign-in.service.js';
import { FormTokens, tokensEqual } from './form-tokens.js';

/** Who is signed in, with what ties the forms of their pages to their session. */
@Injectable()
export class Memberships {
  constructor(
    private readonly signIn: SignInService,
    private readonly cookies: BrowserCookies,
    private readonly tokens: FormTokens,
  ) {}

  /** Null when nobody is signed in. */
  async current(request: Request): Promise<Membership | null> {
    const sessionHash = this.cookies.sessionHash(request);
    const user = await this.signIn.current(request);
    if (!user || sessionHash === undefined) return null;
    return { user, binding: { token: this.tokens.ofSession(sessionHash) } };
  }

  /**
   * Whose form this is.
   * @throws PageError when nobody is signed in any more, or the form was made for another session
   */
  async ofForm(request: Request, token: string | undefined): Promise<Membership> {
    const membership = await this.current(request);
    if (!membership) throw signedOut();
    if (!tokensEqual(membership.binding.token, token ?? '')) throw new ForeignToken();
    return membership;
  }
}
