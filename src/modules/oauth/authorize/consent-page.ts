import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { PageRenderer } from '../../../pages/page-renderer.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { Clock } from '../../../platform/clock.js';
import type { SignInUser } from '../../users/users.repository.js';
import { APPS_PAGE } from '../browser/page-state.js';
import { userView } from '../sign-in/sign-in.service.js';
import { GrantsRepository } from '../tokens/grants.repository.js';
import { authorizationPage, type PendingAuthorization } from './authorizations.service.js';

/** The query parameter of the link from the short page to the consent page. */
export const CHANGE = 'change';

/** The page on which the signed-in user decides. */
@Injectable()
export class ConsentPage {
  constructor(
    private readonly grants: GrantsRepository,
    private readonly renderer: PageRenderer,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /**
   * Sends the consent page, or a shorter one if the app already has everything that it requests, unless the app or the user demands
   * the consent page. Preselects the requested scopes, except those that the user withheld in the latest unrevoked grant.
   */
  async send(
    response: Response,
    pending: PendingAuthorization,
    user: SignInUser,
    { isChange = false } = {},
  ): Promise<void> {
    const { app, binding, scopes, prompt } = pending;
    const form = {
      ...binding,
      app,
      redirectHost: returnsTo(pending),
      user: { id: user.id, ...userView(user) },
    };
    if (prompt === null && !isChange && (await this.hasEverything(pending, user))) {
      const { url } = authorizationPage(response.req, pending.id, 'consent');
      const consentPageUrl = `${url}${url.includes('?') ? '&' : '?'}${CHANGE}=1`;
      this.renderer.send(response, 'repeated-consent', { ...form, scopes, consentPageUrl });
      return;
    }
    const latest = await this.grants.findLatestChoice(user.id, app.clientId);
    const withheld = latest?.requested.filter((name) => !latest.granted.includes(name)) ?? [];
    this.renderer.send(response, 'consent', {
      ...form,
      scopes: scopes.map((name) => ({ name, checked: !withheld.includes(name) })),
      hasEarlierGrant: latest !== null,
      lifetimes: this.config.lifetimes,
      appsUrl: `${this.config.publicUrl}${APPS_PAGE.url}`,
    });
  }

  private async hasEverything(
    { app, scopes }: PendingAuthorization,
    user: SignInUser,
  ): Promise<boolean> {
    const grants = await this.grants.findActive(user.id, this.clock.now(), [app.clientId]);
    const granted = new Set(grants.flatMap((grant) => grant.scopes));
    return scopes.every((scope) => granted.has(scope));
  }
}

/** The host to which the browser returns. A private-use scheme opens the app itself. */
function returnsTo({ redirectUri, app }: PendingAuthorization): string {
  const { protocol, host } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:' ? host : app.name;
}
