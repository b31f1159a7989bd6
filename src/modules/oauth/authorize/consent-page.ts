import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { SignInUser } from '../../users/users.repository.js';
import { OAuthPages } from '../browser/oauth-pages.js';
import { GrantsRepository } from '../tokens/grants.repository.js';
import type { Pending } from './authorizations.service.js';

/** Shows the consent page with the user's earlier choices. */
@Injectable()
export class ConsentPage {
  constructor(
    private readonly grants: GrantsRepository,
    private readonly pages: OAuthPages,
  ) {}

  /** Every requested scope is preselected, except those that the user refused the last time. */
  async show(response: Response, request: Pending, user: SignInUser): Promise<void> {
    const earlier = await this.grants.findLatestChoice(user.id, request.app.clientId);
    const refused = earlier?.requested.filter((name) => !earlier.granted.includes(name)) ?? [];
    const scopes = request.scopes.map((name) => ({ name, checked: !refused.includes(name) }));
    this.pages.consent(response, request, scopes, user);
  }
}
