import { Injectable } from '@nestjs/common';
import { SCOPES } from '../../platform/access/scopes.js';
import { AppConfig } from '../../platform/config/app-config.js';
import { TransactionRunner } from '../../platform/database/transaction.js';
import { InvalidRequest } from '../../platform/errors.js';
import { GrantsService } from '../oauth/tokens/grants.service.js';
import { TokenIssuer } from '../oauth/tokens/token-issuer.js';
import { DEMO_USER_ID, DemoService } from './demo.service.js';

/** Issues access tokens for the demo. */
@Injectable()
export class DemoToken {
  constructor(
    private readonly demo: DemoService,
    private readonly grants: GrantsService,
    private readonly tokens: TokenIssuer,
    private readonly transactions: TransactionRunner,
    private readonly config: AppConfig,
  ) {}

  /**
   * Issues an access token with every scope for the demo user, without the consent page.
   * @throws InvalidRequest in production, and if the database is not a demo
   */
  async issue(): Promise<string> {
    if (this.config.production)
      throw new InvalidRequest(
        'In production, no access token is issued without the consent of the user. Use a demo database outside production.',
      );
    if (!(await this.demo.isSeeded())) {
      throw new InvalidRequest(
        'This database is not a demo. To create one, start the service on an empty database, with DEMO=1 on MySQL and MariaDB.',
      );
    }
    // Not the app of the example, whose consent page would only list what the user has already allowed.
    const [, clientId] = await this.demo.clientIds();
    const { accessToken } = await this.transactions.run(async (tx) => {
      await this.grants.lockDecisions(tx, DEMO_USER_ID, clientId);
      const grant = await this.grants.create(tx, DEMO_USER_ID, clientId, SCOPES);
      return this.tokens.issue(tx, grant, SCOPES);
    });
    return accessToken;
  }
}
