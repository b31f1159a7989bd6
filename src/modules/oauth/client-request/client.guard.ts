import {
  createParamDecorator,
  Injectable,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import type { Request } from 'express';
import type { App } from '../apps/app.entity.js';
import { ClientAuthenticator } from '../apps/client-authenticator.js';
import { InvalidRequest } from '../oauth.errors.js';
import { Parameters } from '../parameters.js';
import { CallCounter } from '../throttle/call-counter.js';
import { ExposedSecrets } from './exposed-secrets.js';

declare global {
  namespace Express {
    interface Request {
      client?: App;
    }
  }
}

/** The parameters that an endpoint reads; of others, such as `resource`, a client may send as many as it likes (RFC 8707 §2). */
const PARAMETERS: ReadonlySet<string> = new Set([
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

/** Lets a well-formed form of an authenticated app through (RFC 6749 §3.2 and §3.2.1). */
@Injectable()
export class ClientGuard implements CanActivate {
  constructor(
    private readonly clients: ClientAuthenticator,
    private readonly exposed: ExposedSecrets,
    private readonly calls: CallCounter,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    if (request.formProblem !== undefined) throw request.formProblem;
    const parameters = new Parameters(request.body);
    const repeated = parameters.repeated().find((name) => PARAMETERS.has(name));
    if (repeated !== undefined) throw new InvalidRequest(`${repeated} must be sent once.`);
    if (request.query['client_secret'] !== undefined) {
      await this.exposed.report(new Parameters(request.query), parameters.get('client_id'));
      throw new InvalidRequest(
        'Never send the client secret in a URL: it is logged on its way. Ask for a new one.',
      );
    }
    request.client = await this.clients.authenticate(request, parameters);
    await this.calls.take(request, request.client);
    return true;
  }
}

/** The app that makes the request. */
export const ClientOf = createParamDecorator((_: unknown, context: ExecutionContext): App => {
  const { client } = context.switchToHttp().getRequest<Request>();
  if (!client) throw new Error('Only an endpoint for apps has a client.');
  return client;
});

/** The form that the app sent. */
export const FormOf = createParamDecorator(
  (_: unknown, context: ExecutionContext): Parameters =>
    new Parameters(context.switchToHttp().getRequest<Request>().body),
);
