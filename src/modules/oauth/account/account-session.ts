import { hkdfSync } from 'node:crypto';
import {
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
} from '@nestjs/common';
import type { Request } from 'express';
import { AppConfig } from '../../../platform/config/app-config.js';
import { digestsEqual, hmacSha256, sha256 } from '../../../platform/secrets.js';
import type { AccountIdentity } from '../browser/oauth-pages.js';
import { BrowserCookies } from '../protocol/browser-cookies.js';
import { ForeignToken, signedOut } from '../protocol/page-error.js';
import { Parameters } from '../protocol/parameters.js';
import { SignInService } from '../sign-in/sign-in.service.js';

const KEY_BYTES = 32;

/**
 * The tokens in the forms of the account's pages (RFC 6749 §10.12). They are made from what they belong to instead of being
 * stored, so that opening a page writes nothing.
 */
@Injectable()
export class FormTokens {
  private readonly key: string;

  constructor({ otp }: AppConfig) {
    const key = hkdfSync('sha256', otp.pepper, '', 'forms of the account pages', KEY_BYTES);
    this.key = Buffer.from(key).toString('hex');
  }

  /** For the forms of one sign-in in one browser. */
  ofSignIn(transaction: string, browserHash: string): string {
    return hmacSha256(this.key, `sign-in|${transaction}|${browserHash}`);
  }

  /** For the forms of who is signed in. */
  ofSession(sessionHash: string): string {
    return hmacSha256(this.key, `session|${sessionHash}`);
  }
}

/** Whether a form brought this token, in constant time. What a form brings may have any length, so digests are compared. */
export function tokensEqual(expected: string, presented: string): boolean {
  return digestsEqual(sha256(expected), sha256(presented));
}

/** Who is signed in, with what ties the forms of their pages to their session. */
@Injectable()
export class Memberships {
  constructor(
    private readonly signIn: SignInService,
    private readonly cookies: BrowserCookies,
    private readonly tokens: FormTokens,
  ) {}

  /** Null when nobody is signed in. */
  async current(request: Request): Promise<AccountIdentity | null> {
    const sessionHash = this.cookies.sessionHash(request);
    const user = await this.signIn.current(request);
    if (!user || sessionHash === undefined) return null;
    return { user, binding: { token: this.tokens.ofSession(sessionHash) } };
  }

  /**
   * Whose form this is.
   * @throws PageError when nobody is signed in any more, or the form was made for another session
   */
  async ofForm(request: Request, token: string | undefined): Promise<AccountIdentity> {
    const membership = await this.current(request);
    if (!membership) throw signedOut();
    if (!tokensEqual(membership.binding.token, token ?? '')) throw new ForeignToken();
    return membership;
  }
}

declare global {
  namespace Express {
    interface Request {
      membership?: AccountIdentity;
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
export const AccountIdentityOf = createParamDecorator(
  (_: unknown, context: ExecutionContext): AccountIdentity => {
    const { membership } = context.switchToHttp().getRequest<Request>();
    if (!membership) throw new Error('Only a form of ours belongs to a session.');
    return membership;
  },
);
