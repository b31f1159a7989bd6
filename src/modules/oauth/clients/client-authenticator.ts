import { Injectable, Logger } from '@nestjs/common';
import type { Request } from 'express';
import { Clock } from '../../../platform/clock.js';
import { digestsEqual, sha256 } from '../../../platform/secrets.js';
import { withDeadline } from '../../../platform/request-context.js';
import { InvalidClient, MissingClientId } from '../protocol/oauth.errors.js';
import type { Parameters } from '../protocol/parameters.js';
import { presentedCredentials } from '../protocol/presented-credentials.js';
import { AppSecretsRepository } from './app-secrets.repository.js';
import { AppsRepository } from './apps.repository.js';
import type { App, AppSecret } from './client.entities.js';

const DUMMY_HASH = sha256('');

/** The maximum number of live secrets of an app. The server compares this many hashes whenever it checks a secret. */
const MAX_LIVE_SECRETS = 2;

/** Client authentication (RFC 6749 §2.3 and §3.2.1). */
@Injectable()
export class ClientAuthenticator {
  private readonly logger = new Logger(ClientAuthenticator.name);

  constructor(
    private readonly apps: AppsRepository,
    private readonly secrets: AppSecretsRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Authenticates a confidential app by its secret, and identifies a public app by its id.
   * @throws OAuthInvalidRequest when credentials contradict each other; InvalidClient when they are missing or wrong
   */
  async authenticate(request: Request, parameters: Parameters): Promise<App> {
    const { clientId, secret, basic } = presentedCredentials(request, parameters);
    if (clientId === undefined) throw new MissingClientId();
    const app = await this.apps.find(clientId);
    if (app?.kind === 'public' && secret === undefined) {
      if (app.status !== 'enabled') throw new InvalidClient({ needsChallenge: basic });
      return app;
    }
    const matching = await this.matchingSecret(app, secret);
    if (!app || !matching || app.status !== 'enabled')
      throw new InvalidClient({ needsChallenge: basic });
    try {
      // The write has its own deadline, so that it does not use up the time of the request.
      await withDeadline(() => this.secrets.recordUse(matching, this.clock.now()));
    } catch (error) {
      this.logger.warn(`Could not write the last use of a client secret: ${String(error)}`);
    }
    return app;
  }

  /** Takes the same time for unknown apps, public apps and wrong secrets, so that timing reveals nothing (CWE-208). */
  private async matchingSecret(
    app: App | null,
    secret: string | undefined,
  ): Promise<AppSecret | undefined> {
    const live = await this.secrets.findLive(app?.clientId ?? '', this.clock.now());
    const hash = sha256(secret ?? '');
    const matching = live.filter((stored) => digestsEqual(stored.hash, hash));
    for (let compared = live.length; compared < MAX_LIVE_SECRETS; compared += 1)
      digestsEqual(DUMMY_HASH, hash);
    return secret === undefined ? undefined : matching[0];
  }
}
