import { applyDecorators } from '@nestjs/common';
import {
  ApiOperation,
  ApiQuery,
  ApiResponse,
  ApiTags,
  type ApiQueryOptions,
} from '@nestjs/swagger';
import { RETRY_AFTER } from '../../../platform/http/validation/schemas.js';
import { PROMPTS } from './authorize-checks.js';

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

/** `none` must stand alone. */
const COMBINABLE_PROMPTS = PROMPTS.filter((prompt) => prompt !== 'none').join('|');

/** The authorization endpoint in the published document (source document, section 4.1). */
export function ApiAuthorize(): MethodDecorator {
  return applyDecorators(
    ApiTags('oauth'),
    ApiOperation({
      operationId: 'authorize',
      security: [],
      summary: 'Ask the user for access',
      description:
        'Send the browser here. The user signs in with a one-time password, chooses scopes and decides; the browser is then ' +
        'redirected to `redirect_uri` with `code`, `state` and `iss`, or with `error`, `error_description`, `state` and `iss`. ' +
        'Compare `state` with what you sent and `iss` with this server before you use the code.',
    }),
    required('client_id', "The app's client_id.", { type: 'string' }),
    required('redirect_uri', 'One that is registered for the app.', {
      type: 'string',
      format: 'uri',
    }),
    required('response_type', 'What comes back: an authorization code.', {
      type: 'string',
      enum: ['code'],
    }),
    required('scope', 'Space-separated.', {
      type: 'string',
      example: 'profile.read posts.read',
    }),
    required(
      'state',
      'Random; given back as it was sent. At most 4,096 bytes: as many ASCII characters, or 1,024 of any kind.',
      {
        type: 'string',
        minLength: 1,
        maxLength: 4096,
        pattern: '^([\\u0000-\\u007F]*|[\\s\\S]{0,1024})$',
      },
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
      'What the user is asked even if it were not needed (OpenID Connect Core §3.1.2.1, by analogy), space-separated: ' +
        'login to sign in again, select_account to sign in as somebody else, consent, which is asked in any case. none asks ' +
        'for an answer without a page, which is always interaction_required.',
      {
        type: 'string',
        pattern: `^ *((none|(${COMBINABLE_PROMPTS})( +(${COMBINABLE_PROMPTS}))*) *)?$`,
        example: 'login',
      },
    ),
    optional(
      'ui_locales',
      'Languages of the user (BCP 47), space-separated, the best first: the pages use the first one that they are ' +
        'written in, else what the browser accepts.',
      { type: 'string', example: 'es-MX en' },
    ),
    page(200, 'The sign-in page, or the consent page for who is signed in.'),
    ApiResponse({
      status: 303,
      description:
        'The request is wrong, and the user is signed in or prompt is none: the error goes to the redirect URI.',
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
      'Client or redirect URI are not registered, or the request is wrong and the visitor is not signed in: a page. In the ' +
        'second case it has a link that returns to the app with the error.',
    ),
    page(429, 'Too many requests from this address.', RETRY_AFTER),
    page(500, 'Something went wrong on our side.'),
    page(503, 'The service is not available right now.', RETRY_AFTER),
  );
}
