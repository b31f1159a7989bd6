import { applyDecorators } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import { RETRY_AFTER } from '../../../platform/http/validation/schemas.js';
import { PROMPTS } from './authorize-checks.js';

/** None but `none` can stand beside others. */
const ASKED = PROMPTS.filter((prompt) => prompt !== 'none').join('|');

const PAGE = { 'text/html': { schema: { type: 'string' as const } } };

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
    ApiQuery({
      name: 'client_id',
      required: true,
      description: "The app's client_id.",
      schema: { type: 'string' },
    }),
    ApiQuery({
      name: 'redirect_uri',
      required: true,
      description: 'One that is registered for the app.',
      schema: { type: 'string', format: 'uri' },
    }),
    ApiQuery({
      name: 'response_type',
      required: true,
      description: 'What comes back: an authorization code.',
      schema: { type: 'string', enum: ['code'] },
    }),
    ApiQuery({
      name: 'scope',
      required: true,
      description: 'Space-separated.',
      schema: { type: 'string', example: 'profile.read posts.read' },
    }),
    ApiQuery({
      name: 'state',
      required: true,
      description:
        'Random; given back as it was sent. At most 4,096 bytes: as many ASCII characters, or 1,024 of any kind.',
      schema: {
        type: 'string',
        minLength: 1,
        maxLength: 4096,
        pattern: '^([\\u0000-\\u007F]*|[\\s\\S]{0,1024})$',
      },
    }),
    ApiQuery({
      name: 'code_challenge',
      required: false,
      description: 'Required for public apps (RFC 7636).',
      schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{43}$' },
    }),
    ApiQuery({
      name: 'code_challenge_method',
      required: false,
      description: 'Required with code_challenge.',
      schema: { type: 'string', enum: ['S256'] },
    }),
    ApiQuery({
      name: 'prompt',
      required: false,
      description:
        'What the user is asked even if it were not needed (OpenID Connect Core §3.1.2.1, by analogy), space-separated: ' +
        'login to sign in again, select_account to sign in as somebody else, consent, which is asked in any case. none asks ' +
        'for an answer without a page, which is always interaction_required.',
      schema: {
        type: 'string',
        pattern: `^ *((none|(${ASKED})( +(${ASKED}))*) *)?$`,
        example: 'login',
      },
    }),
    ApiQuery({
      name: 'ui_locales',
      required: false,
      description:
        'Languages of the user (BCP 47), space-separated, the best first: the pages use the first one that they are ' +
        'written in, else what the browser accepts.',
      schema: { type: 'string', example: 'es-MX en' },
    }),
    ApiResponse({
      status: 200,
      description: 'The sign-in page, or the consent page for who is signed in.',
      content: PAGE,
    }),
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
    ApiResponse({
      status: 400,
      description:
        'Client or redirect URI are not registered, or the request is wrong and the visitor is not signed in: a page. In the ' +
        'second case it has a link that returns to the app with the error.',
      content: PAGE,
    }),
    ApiResponse({
      status: 429,
      description: 'Too many requests from this address.',
      headers: RETRY_AFTER,
      content: PAGE,
    }),
    ApiResponse({ status: 500, description: 'Something went wrong on our side.', content: PAGE }),
    ApiResponse({
      status: 503,
      description: 'The service is not available right now.',
      headers: RETRY_AFTER,
      content: PAGE,
    }),
  );
}
