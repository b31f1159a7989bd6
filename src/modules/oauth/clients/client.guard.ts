import {
  createParamDecorator,
  Injectable,
  type CanActivate,
  type ExecutionContext,
  Logger,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { Clock } from '../../../platform/clock.js';
import { AppConfig } from '../../../platform/config/app-config.js';
import { digestsEqual, sha256 } from '../../../platform/secrets.js';
import { withDeadline } from '../../../platform/request-context.js';
import { isCrossOrigin } from '../protocol/fetch-metadata.js';
import { readForm } from '../protocol/form-body.js';
import {
  OAuthError,
  OAuthInvalidRequest,
  SECRET_LEAKED,
  InvalidClient,
  MissingClientId,
} from '../protocol/oauth.errors.js';
import { Parameters } from '../protocol/parameters.js';
import { claimedClientIds, presentedCredentials } from '../protocol/presented-credentials.js';
import { AppSecretsService } from './app-secrets.service.js';
import { AppsRepository } from './apps.repository.js';
import { AppsService } from './apps.service.js';
import type { App, AppSecret } from './client.entities.js';

export type ClientEndpointName = 'token' | 'revocation' | 'introspection';

declare module '../../../platform/request-context.js' {
  interface RequestContext {
    /** The endpoint whose failed attempts count this request if it fails. */
    clientEndpoint?: ClientEndpointName;
    authenticatedClient?: App;
  }
}

/** Parameters that clients may send only once. Others may repeat, such as `resource` (RFC 8707 §2). */
const SINGLE_PARAMETERS: ReadonlySet<string> = new Set([
  'grant_type',
  'client_id',
  'client_secret',
  'code',
  'redirect_uri',
  'code_verifier',
  'refresh_token',
  'scope',
  'token',
  'token_type_hint',
]);

/** The bulkhead counts the requests of all public apps under this name, which is no client id. */
const PUBLIC_APPS = 'public apps';

const DUMMY_HASH = sha256('');

/** The maximum number of live secrets of an app. The server compares this many hashes whenever it checks a secret. */
const MAX_LIVE_SECRETS = 2;

/** The endpoint of a controller, and whether browser apps may call it. */
export const Endpoint = Reflector.createDecorator<{ name: ClientEndpointName; cors: boolean }>();

/**
 * Forbids caching, reads the form, sets the CORS headers, rejects cross-site requests, and authenticates the client (RFC 6749 §2.3,
 * §3.2 and §3.2.1).
 */
@Injectable()
export class ClientGuard implements CanActivate {
  private readonly logger = new Logger(ClientGuard.name);

  constructor(
    private readonly repository: AppsRepository,
    private readonly apps: AppsService,
    private readonly secrets: AppSecretsService,
    private readonly clock: Clock,
    private readonly config: AppConfig,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const [request, response] = context.getArgs<[Request, Response]>();
    const { name, cors } = this.reflector.get(Endpoint, context.getClass());
    response.set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' });
    const formError = await this.formErrorOf(request, response);
    if (cors) await this.allowOrigin(request, response);
    // Before failed attempts are counted. Otherwise any site could exhaust the limits of its visitors.
    if (isCrossOrigin(request) && !response.hasHeader('Access-Control-Allow-Origin'))
      throw new OAuthInvalidRequest(
        'Cross-site browser requests are rejected. A public app can call /oauth/token and /oauth/revoke with its client_id from the origin of one of its redirect URIs, or from an origin that the operator registered for it.',
      );
    // From here on, failures count as failed attempts.
    request.context.clientEndpoint = name;
    const app = await this.authenticate(request, formError);
    const isConfidential = app.kind === 'confidential';
    Object.assign(request.context, {
      clientId: app.clientId,
      authenticatedClient: app,
      isConfidential,
    });
    // Anyone can send the ids of public apps, so these requests together count as one app, and not towards the calls of any.
    await request.context.permit?.assign(isConfidential ? app.clientId : PUBLIC_APPS);
    return true;
  }

  /** Reads the form. Returns its error, which counts as a failed attempt and comes after a secret in the URL. */
  private async formErrorOf(request: Request, response: Response): Promise<OAuthError | undefined> {
    try {
      await readForm(request, response, this.config.server.requestTimeoutMs);
      return undefined;
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      request.body = {};
      return error;
    }
  }

  /** Sets the CORS headers for browser apps, without credentials (RFC 9700 §2.6). Error responses have them, too. */
  private async allowOrigin(request: Request, response: Response): Promise<void> {
    response.vary('Origin');
    const origin = request.get('origin');
    const clientIds = claimedClientIds(request, new Parameters(request.body));
    if (origin !== undefined && (await this.apps.allowsOrigin(origin, clientIds)))
      response.set({
        'Access-Control-Allow-Origin': origin,
        'Access-Control-Expose-Headers': 'WWW-Authenticate, Retry-After, X-Request-Id',
      });
  }

  /**
   * Authenticates a confidential app by its secret, and identifies a public app by its id. Checks first for a secret in the URL, which
   * has leaked even if the request is invalid.
   * @throws OAuthInvalidRequest when credentials contradict each other; InvalidClient when they are missing or wrong; `formError`
   */
  private async authenticate(request: Request, formError: OAuthError | undefined): Promise<App> {
    if (await this.secrets.reportSecretInQuery(request.query))
      throw new OAuthInvalidRequest(
        `${SECRET_LEAKED} Send the new one with HTTP Basic or in the form.`,
      );
    if (formError) throw formError;
    const parameters = new Parameters(request.body);
    checkDuplicates(parameters);
    const { clientId, secret, basic } = presentedCredentials(request, parameters);
    if (clientId === undefined) throw new MissingClientId();
    const app = await this.repository.find(clientId);
    if (app?.kind === 'public' && secret === undefined) {
      if (app.status !== 'enabled') throw new InvalidClient({ needsChallenge: basic, clientId });
      return app;
    }
    const matching = await this.matchingSecret(app, secret);
    if (!app || !matching || app.status !== 'enabled')
      throw new InvalidClient({ needsChallenge: basic, clientId: app?.clientId });
    try {
      // The write has its own deadline, so that it does not use up the time of the request.
      await withDeadline(() => this.repository.recordSecretUse(matching, this.clock.now()));
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
    const live = await this.repository.findLiveSecrets(app?.clientId ?? '', this.clock.now());
    const hash = sha256(secret ?? '');
    const matching = live.filter((stored) => digestsEqual(stored.hash, hash));
    for (let compared = live.length; compared < MAX_LIVE_SECRETS; compared += 1)
      digestsEqual(DUMMY_HASH, hash);
    return secret === undefined ? undefined : matching[0];
  }
}

/** @throws OAuthInvalidRequest when one of `SINGLE_PARAMETERS` is repeated, or has brackets in its name, such as `scope[]` */
function checkDuplicates(parameters: Parameters): void {
  for (const sentName of parameters.names()) {
    const name = sentName.replace(/\[.*$/s, '');
    if (SINGLE_PARAMETERS.has(name) && (name !== sentName || parameters.isRepeated(name)))
      throw new OAuthInvalidRequest(`Send ${name} only once, without brackets.`);
  }
}

/** Parameter decorator: the authenticated app. */
export const AuthenticatedClient = createParamDecorator(
  (_: unknown, context: ExecutionContext): App => {
    const { authenticatedClient } = context.switchToHttp().getRequest<Request>().context;
    if (!authenticatedClient) throw new Error('The route has no ClientGuard.');
    return authenticatedClient;
  },
);

/** Parameter decorator: the parameters of the form. */
export const FormParameters = createParamDecorator(
  (_: unknown, context: ExecutionContext): Parameters =>
    new Parameters(context.switchToHttp().getRequest<Request>().body),
);
