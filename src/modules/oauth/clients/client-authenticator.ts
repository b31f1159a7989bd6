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

/** So many hashes are compared for every app, also for unknown ones: no app has more live secrets. */
const COMPARED_HASHES = 2;

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
   * Authenticates a confidential app by its secret, a public one by its id alone.
   * @throws InvalidRequest when credentials contradict each other; InvalidClient, also when there are none
   */
  async authenticate(request: Request, parameters: Parameters): Promise<App> {
    const { clientId, secret, basic } = presentedCredentials(request, parameters);
    if (clientId === undefined) throw new MissingClientId();
    const app = await this.apps.find(clientId);
    if (app?.kind === 'public' && secret === undefined) {
      if (app.status !== 'enabled') throw new InvalidClient(basic);
      return app;
    }
    const matching = await this.matchingSecret(app, secret);
    if (!app || !matching || app.status !== 'enabled') throw new InvalidClient(basic);
    try {
      // It does not use up the time of the request.
      await withDeadline(() => this.secrets.noteUse(matching, this.clock.now()));
    } catch (error) {
      this.logger.warn(`The last use of a client secret could not be written: ${String(error)}`);
    }
    return app;
  }

  /** An unknown app, and a public one with a secret, take the same time as a wrong secret, so time does not reveal them (CWE-208). */
  private async matchingSecret(
    app: App | null,
    secret: string | undefined,
  ): Promise<AppSecret | undefined> {
    const live = await this.secrets.findLive(app?.clientId ?? '', this.clock.now());
    const hash = sha256(secret ?? '');
    const matching = live.filter((stored) => digestsEqual(stored.hash, hash));
    for (let compared = live.length; compared < COMPARED_HASHES; compared += 1)
      digestsEqual(DUMMY_HASH, hash);
    return secret === undefined ? undefined : matching[0];
  }
}
