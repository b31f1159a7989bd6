import { Injectable, Logger } from '@nestjs/common';
import type { Request } from 'express';
import { Clock } from '../../../platform/clock.js';
import { isId } from '../../../platform/ids.js';
import { digestsEqual, sha256 } from '../../../platform/secrets.js';
import { withDeadline } from '../../../platform/request-context.js';
import { InvalidClient, UnnamedClient } from '../protocol/oauth.errors.js';
import type { Parameters } from '../protocol/parameters.js';
import type { App, AppSecret } from './client.entities.js';
import { AppSecretsRepository } from './app-secrets.repository.js';
import { AppsRepository } from './apps.repository.js';
import {
  presentedCredentials,
  type PresentedCredentials,
} from '../protocol/presented-credentials.js';

const NOBODYS_SECRET = sha256('');

/** As many digests are compared for every app, unknown ones included: no app has more live secrets. */
const COMPARED = 2;

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
   * The app that makes this request: a confidential one by its secret, a public one by its id alone. Moves the time of the
   * secret's last use.
   * @throws InvalidRequest when credentials contradict each other; InvalidClient, also when there are none
   */
  async authenticate(request: Request, parameters: Parameters): Promise<App> {
    const presented = presentedCredentials(request, parameters);
    if (presented.clientId === undefined) throw new UnnamedClient();
    const { clientId } = presented;
    const app = isId('svc_app', clientId) ? await this.apps.find(clientId) : null;
    if (app?.kind === 'public' && presented.secret === undefined) return enabled(app, presented);
    const secret = await this.provenSecret(app, presented);
    if (app === null || secret === undefined) throw new InvalidClient(presented.basic);
    enabled(app, presented);
    await this.noteUse(secret);
    return app;
  }

  /**
   * The live secret that was presented. An unknown app, and a public one with a secret, cost the statements and the hash of
   * a wrong secret, so that time does not tell them apart (CWE-208).
   */
  private async provenSecret(
    app: App | null,
    { secret }: PresentedCredentials,
  ): Promise<AppSecret | undefined> {
    const live = await this.secrets.findLive(app?.clientId ?? '', this.clock.now());
    const hash = sha256(secret ?? '');
    const matching = live.filter((stored) => digestsEqual(stored.hash, hash));
    for (let compared = live.length; compared < COMPARED; compared += 1)
      digestsEqual(NOBODYS_SECRET, hash);
    return secret === undefined ? undefined : matching[0];
  }

  /** The time of the last use is worth no failed request: when it cannot be written now, a later call writes it. */
  private async noteUse(secret: AppSecret): Promise<void> {
    try {
      // However long it waits, the request has its time.
      await withDeadline(() => this.secrets.noteUse(secret, this.clock.now()));
    } catch (error) {
      this.logger.warn(`The last use of a client secret could not be written: ${String(error)}`);
    }
  }
}

function enabled(app: App, { basic }: PresentedCredentials): App {
  if (app.status !== 'enabled') throw new InvalidClient(basic);
  return app;
}
