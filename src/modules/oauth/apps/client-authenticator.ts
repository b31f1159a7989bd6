import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Clock } from '../../../common/clock.js';
import { isId } from '../../../common/ids.js';
import { digestsEqual, sha256 } from '../../../common/secrets.js';
import { InvalidClient, InvalidRequest } from '../oauth.errors.js';
import type { Parameters } from '../parameters.js';
import { AppsRepository } from './apps.repository.js';
import type { App } from './app.entity.js';
import { presentedCredentials, type PresentedCredentials } from './presented-credentials.js';

const NOBODYS_SECRET = sha256('');

/** Client authentication at the token endpoint (RFC 6749 §2.3 and §3.2.1). */
@Injectable()
export class ClientAuthenticator {
  constructor(
    private readonly repository: AppsRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * The app that makes this request: a confidential one by its secret, a public one by its id alone.
   * @throws InvalidRequest when credentials contradict each other; InvalidClient
   */
  async authenticate(request: Request, parameters: Parameters): Promise<App> {
    const presented = presentedCredentials(request, parameters);
    if (presented.clientId === undefined) throw new InvalidRequest('client_id is required.');
    const { clientId } = presented;
    const app = isId('svc_app', clientId) ? await this.repository.find(clientId) : null;
    const proven = await this.isProven(app, presented);
    if (app?.status !== 'enabled' || !proven) throw new InvalidClient(presented.basic);
    return app;
  }

  /** An unknown app costs the statements and the hash of a wrong secret, so that time does not tell them apart. */
  private async isProven(app: App | null, { secret }: PresentedCredentials): Promise<boolean> {
    if (app?.kind === 'public') return secret === undefined;
    const live = await this.repository.findLiveSecrets(app?.clientId ?? '', this.clock.now());
    const hash = sha256(secret ?? '');
    const known = live.length > 0 ? live.map((stored) => stored.hash) : [NOBODYS_SECRET];
    const matches = known.map((stored) => digestsEqual(stored, hash)).includes(true);
    return app !== null && secret !== undefined && matches;
  }
}
