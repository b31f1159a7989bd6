import {
  createParamDecorator,
  Injectable,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { OAuthInvalidRequest, SECRET_LEAKED } from '../protocol/oauth.errors.js';
import { Parameters } from '../protocol/parameters.js';
import { AppSecretsService } from './app-secrets.service.js';
import { ClientAuthenticator } from './client-authenticator.js';
import type { App } from './client.entities.js';

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

export const EndpointName = Reflector.createDecorator<ClientEndpointName>();

/** Validates the form and authenticates the client (RFC 6749 §3.2 and §3.2.1). */
@Injectable()
export class ClientGuard implements CanActivate {
  constructor(
    private readonly clients: ClientAuthenticator,
    private readonly secrets: AppSecretsService,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    request.context.clientEndpoint = this.reflector.get(EndpointName, context.getClass());
    const app = await this.authenticate(request);
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

  /** Checks first for a secret in the URL, which has leaked even if the request is invalid. */
  private async authenticate(request: Request): Promise<App> {
    if (await this.secrets.reportSecretInQuery(request.query))
      throw new OAuthInvalidRequest(
        `${SECRET_LEAKED} Send the new one with HTTP Basic or in the form.`,
      );
    const { formError } = request.context;
    if (formError !== undefined) throw formError;
    const parameters = new Parameters(request.body);
    checkDuplicates(parameters);
    return this.clients.authenticate(request, parameters);
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
