import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { maskPhone } from '../../common/phone-number.js';
import { AppConfig } from '../../config/app-config.js';
import { formTargetOf, pageHeaders } from '../../pages/page-headers.js';
import { PageRenderer } from '../../pages/page-renderer.js';
import type { SignInUser } from '../users/users.repository.js';
import type { Pending } from './authorize/authorizations.service.js';
import { GrantsRepository } from './grants/grants.repository.js';
import { SCOPE_SENTENCES } from './consent/scope-sentences.js';
import type { PageError } from './page-error.js';

/** What a form's page has to say beside the form. */
export interface Remark {
  status?: number;
  error?: string;
  notice?: string;
  retryAfterSeconds?: number;
}

/** The pages that a browser sees on its way from the app's request to the app's redirect. */
@Injectable()
export class OAuthPages {
  constructor(
    private readonly renderer: PageRenderer,
    private readonly grants: GrantsRepository,
    private readonly config: AppConfig,
  ) {}

  phone(
    response: Response,
    { app, binding }: Pending,
    remark: Remark & { phone?: string } = {},
  ): void {
    const { phone, error } = remark;
    this.send(
      response,
      this.renderer.phone({ ...binding, appName: app.name, phone, error }),
      remark,
    );
  }

  code(response: Response, { app, binding }: Pending, phone: string, remark: Remark = {}): void {
    const { error, notice } = remark;
    const view = { ...binding, appName: app.name, phone, error, notice };
    this.send(response, this.renderer.code(view), remark);
  }

  /** Every requested scope has a box, ticked unless the user refused it the last time. */
  async consent(
    response: Response,
    { app, binding, redirectUri, scopes }: Pending,
    user: SignInUser,
  ): Promise<void> {
    const earlier = await this.grants.findLatestChoice(user.id, app.clientId);
    const refused = earlier?.requested.filter((name) => !earlier.granted.includes(name)) ?? [];
    const html = this.renderer.consent({
      ...binding,
      appName: app.name,
      redirectHost: recipientOf(redirectUri),
      user: { id: user.id, name: user.name, maskedPhone: maskPhone(user.phone) },
      scopes: scopes.map((name) => ({
        name,
        sentence: SCOPE_SENTENCES[name],
        checked: !refused.includes(name),
      })),
      lifetimes: this.config.lifetimes,
    });
    this.send(response, html, {}, [formTargetOf(redirectUri)]);
  }

  error(response: Response, { status, title, paragraphs, retryAfterSeconds }: PageError): void {
    const html = this.renderer.message({ title, paragraphs, error: true });
    this.send(response, html, { status, retryAfterSeconds });
  }

  private send(response: Response, html: string, remark: Remark, formTargets?: string[]): void {
    const { status = 200, retryAfterSeconds } = remark;
    response.status(status).set(pageHeaders({ secure: this.config.secure, formTargets }));
    if (retryAfterSeconds !== undefined) response.set('Retry-After', String(retryAfterSeconds));
    response.send(html);
  }
}

/** Who gets the answer, as a person can check it: the host, or the scheme that an installed app has registered. */
function recipientOf(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:' ? host : protocol;
}
