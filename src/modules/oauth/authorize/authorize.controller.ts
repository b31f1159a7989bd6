import {
  applyDecorators,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  Query,
  Req,
  Res,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import {
  ApiOperation,
  ApiQuery,
  ApiResponse,
  ApiTags,
  type ApiQueryOptions,
  ApiExcludeEndpoint,
} from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { RETRY_AFTER } from '../../../platform/http/validation/schemas.openapi.js';
import { PageError } from '../../../pages/page-errors.js';
import { textsFor } from '../../../pages/translations/translations.js';
import { Public } from '../../../platform/access/scopes.decorator.js';
import { messageOf } from '../browser/page-state.js';
import { PageErrorFilter } from '../browser/page-error.filter.js';
import { canAuthorize } from '../../users/test-members.js';
import type { SignInUser } from '../../users/users.repository.js';
import { AppsService, type RegisteredApp } from '../clients/apps.service.js';
import { AuthorizationError } from '../protocol/authorization-response.js';
import { isForFrame, NavigationGuard, PrefetchGuard } from '../protocol/fetch-metadata.js';
import { isWellEncoded, Parameters } from '../protocol/parameters.js';
import { LimitCalls } from '../rate-limit/call-limits.js';
import { otherMode, SignInFlowService } from '../sign-in/sign-in-flow.js';
import { SignInService } from '../sign-in/sign-in.service.js';
import { GrantsService } from '../tokens/grants.service.js';
import {
  PROMPTS,
  type AuthorizationRequest,
  checkAuthorizationRequest,
  isSilent,
  requiresSignIn,
} from './authorize-checks.js';
import { AuthorizationsService, nameOnErrorPages } from './authorizations.service.js';
import { ConsentPage } from './consent.service.js';

type Schema = Extract<ApiQueryOptions, { schema: unknown }>['schema'];

const required = (name: string, description: string, schema: Schema): MethodDecorator =>
  ApiQuery({ name, required: true, description, schema });

const optional = (name: string, description: string, schema: Schema): MethodDecorator =>
  ApiQuery({ name, required: false, description, schema });

const page = (status: number, description: string, headers?: typeof RETRY_AFTER): MethodDecorator =>
  ApiResponse({
    status,
    description,
    ...(headers && { headers }),
    content: { 'text/html': { schema: { type: 'string' } } },
  });

/** All values of `prompt` except `none`, which cannot be combined with others. A part of a regular expression. */
const COMBINABLE_PROMPTS = PROMPTS.filter((prompt) => prompt !== 'none').join('|');

/** OpenAPI documentation of the authorization endpoint (product requirements, section 4.1). */
export function ApiAuthorize(): MethodDecorator {
  return applyDecorators(
    ApiTags('oauth'),
    ApiOperation({
      operationId: 'authorize',
      security: [],
      summary: 'Request access to a user account',
      description:
        'Redirect the browser here. The user signs in with a one-time password, selects scopes and decides. Then the server ' +
        'redirects to `redirect_uri` with `code`, `state` and `iss`, or with `error`, `error_description`, `state` and `iss`. ' +
        'Compare `state` with the value that you sent, and `iss` with this server, before you use the code.',
    }),
    required('client_id', "The app's client_id.", { type: 'string' }),
    required('redirect_uri', 'A registered redirect URI of the app.', {
      type: 'string',
      format: 'uri',
    }),
    required('response_type', 'The response type: an authorization code.', {
      type: 'string',
      enum: ['code'],
    }),
    required('scope', 'Space-separated. `offline_access` beside other scopes is ignored.', {
      type: 'string',
      example: 'profile.read posts.read',
    }),
    required(
      'state',
      'A random value, returned unchanged. At most 4,096 bytes in UTF-8: 4,096 ASCII characters, or 1,024 characters of any kind.',
      { type: 'string', minLength: 1, maxLength: 4096 },
    ),
    optional('code_challenge', 'Required for public apps (RFC 7636).', {
      type: 'string',
      pattern: '^[A-Za-z0-9_-]{43}$',
    }),
    optional('code_challenge_method', 'Required with code_challenge.', {
      type: 'string',
      enum: ['S256'],
    }),
    optional(
      'prompt',
      'Required steps, space-separated, such as `login consent` (OpenID Connect Core §3.1.2.1, by analogy): `login` (sign in again), ' +
        '`select_account` (sign in with another account) or `consent`. With each of them, the user decides about each scope, although ' +
        'the app already has all of them. `none` (no page) is not supported: an otherwise valid request returns ' +
        '`interaction_required`. In a frame, only `none` gets a response for the app: every error is redirected.',
      {
        type: 'string',
        pattern: `^ *((none|(${COMBINABLE_PROMPTS})( +(${COMBINABLE_PROMPTS}))*) *)?$`,
      },
    ),
    optional(
      'ui_locales',
      'Preferred languages of the user (BCP 47), space-separated, such as `es-MX en`. The pages use the first supported language, by default ' +
        'the language of the browser.',
      { type: 'string' },
    ),
    page(
      200,
      'A page on which the user decides, if the user is signed in and `prompt` does not require a new sign-in; otherwise the sign-in page.',
    ),
    ApiResponse({
      status: 303,
      description:
        'The request is invalid and the signed-in user has allowed the app before, `prompt=none` is the only error, or the request has `prompt=none` and is made in a frame: the server redirects the error to the app.',
      headers: {
        Location: {
          description: 'The redirect URI, with error, error_description, state and iss.',
          required: true,
          schema: { type: 'string', format: 'uri' },
        },
      },
    }),
    page(
      400,
      'An error page: the client or redirect URI is not registered, `state` is too long, the URL is malformed, or the request ' +
        'has another error than `prompt=none` and the user is not signed in or has not allowed the app yet. Only in the last case, a link on the page returns ' +
        'the error to the app.',
    ),
    page(429, 'Too many requests from this IP address.', RETRY_AFTER),
    page(500, 'Something went wrong on our side.'),
    page(503, 'The service is not available right now.', RETRY_AFTER),
  );
}

/**
 * Redirects the error of a request with `prompt=none` in a hidden frame, with which OpenID Connect libraries renew tokens: with an error
 * page, they would wait until their timeout. Reads no session, so the response reveals nothing about the user. Does not count the call,
 * because otherwise any site could use up the limits of its visitors.
 * @throws AuthorizationError or PageError
 */
@Injectable()
export class SilentRequestGuard implements CanActivate {
  constructor(private readonly apps: AppsService) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const parameters = new Parameters(request.query);
    if (!isForFrame(request) || !isSilent(parameters)) return true;
    if (!isWellEncoded(request.url)) throw new PageError('malformed_link');
    const app = await this.apps.find(parameters.get('client_id') ?? '');
    checkAuthorizationRequest({ app, parameters });
    return false;
  }
}

/** The authorization endpoint (RFC 6749 §3.1). */
@Public()
@UseFilters(PageErrorFilter)
@Controller('oauth/authorize')
export class AuthorizeController {
  constructor(
    private readonly apps: AppsService,
    private readonly authorizations: AuthorizationsService,
    private readonly signIn: SignInService,
    private readonly flows: SignInFlowService,
    private readonly consentPage: ConsentPage,
    private readonly grants: GrantsService,
  ) {}

  /**
   * Validates the request. Then shows the consent page, if the user has a session and the app does not require a new sign-in, or
   * else the sign-in page.
   */
  @Get()
  @LimitCalls(
    'authorize-calls-by-address',
    'authorize-calls-by-network56',
    'authorize-calls-by-network48',
  )
  @UseGuards(SilentRequestGuard, NavigationGuard, PrefetchGuard)
  @ApiAuthorize()
  async authorize(
    @Query() query: Record<string, unknown>,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    if (!isWellEncoded(request.url)) throw new PageError('malformed_link');
    const parameters = new Parameters(query);
    const app = await this.apps.find(parameters.get('client_id') ?? '');
    if (app?.enabled) nameOnErrorPages(request, app, parameters.get('redirect_uri'));
    const sessionUser = await this.signIn.current(request);
    let valid: AuthorizationRequest;
    try {
      valid = checkAuthorizationRequest({ app, parameters });
    } catch (error) {
      // Otherwise the server would be an open redirector (RFC 9700 §4.11.2), and every app could find out who is signed in. Not for
      // `prompt=none`, which programs use.
      if (error instanceof AuthorizationError && error.error.code !== 'interaction_required')
        error.needsConfirmation = !(await this.isConnected(sessionUser, app));
      throw error;
    }
    const isOtherMode = sessionUser !== null && !canAuthorize(sessionUser, valid.app);
    const user = requiresSignIn(valid) || isOtherMode ? null : sessionUser;
    const pending = await this.authorizations.start(valid, user?.id ?? null, request, response);
    const message = isOtherMode ? otherMode(valid.app) : undefined;
    const { error: notice } = messageOf({ message }, textsFor(request));
    if (user) await this.consentPage.send(response, pending, user);
    else await this.flows.sendPhonePage(response, pending, {}, { notice });
  }

  /** Whether the user is signed in and has allowed this app. */
  private async isConnected(user: SignInUser | null, app: RegisteredApp | null): Promise<boolean> {
    if (!user || !app) return false;
    return (await this.grants.activeApps(user.id, [app.clientId])).length > 0;
  }

  /** The action URL of a form, requested with GET, or an unknown path. */
  @Get('{*path}')
  @ApiExcludeEndpoint()
  rejectUnknownPath(): never {
    throw new PageError('not_a_page');
  }
}
