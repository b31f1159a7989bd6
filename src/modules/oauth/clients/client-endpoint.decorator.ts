import { applyDecorators, UseFilters, UseGuards } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiOperation,
  ApiResponse,
  ApiTags,
  type ApiBodyOptions,
  type ApiResponseOptions,
} from '@nestjs/swagger';
import { CLIENT_SECURITY_SCHEME, Public } from '../../../platform/access/scopes.decorator.js';
import { RETRY_AFTER } from '../../../platform/http/validation/schemas.openapi.js';
import {
  FormTooLarge,
  FormTooSlow,
  InvalidClient,
  MalformedBasic,
  ServerError,
  TemporarilyUnavailable,
  TooManyAttempts,
  MissingClientId,
  type OAuthError,
} from '../protocol/oauth.errors.js';
import { LimitCalls } from '../rate-limit/call-limits.js';
import { ClientGuard, Endpoint, type ClientEndpointName } from './client.guard.js';
import { OAuthErrorFilter, OAuthErrorResponse } from './oauth-error.filter.js';

/**
 * A controller for endpoints that clients call with a form-encoded body (RFC 6749 §3.2, RFC 7009 §2.1, RFC 7662 §2.1). The
 * guard authenticates the client before the rate limit counts the call.
 * @param options.cors whether browser apps may call the endpoint
 */
export function ClientEndpoint(
  name: ClientEndpointName,
  { cors = true }: { cors?: boolean } = {},
): ClassDecorator {
  return applyDecorators(
    Public(),
    UseFilters(OAuthErrorFilter),
    Endpoint({ name, cors }),
    UseGuards(ClientGuard),
    LimitCalls(`${name}-calls-by-client`),
  );
}

type Schema = Exclude<Extract<ApiBodyOptions, { schema: object }>['schema'], { $ref: string }>;
type FormSchemas = NonNullable<Schema['properties']>;

/** OpenAPI documentation of a client endpoint. */
interface ClientOperation {
  operationId: string;
  summary: string;
  description: string;
  /** The form parameters, without the client credentials. */
  form: FormSchemas;
  required: readonly string[];
  /** Examples of 400 responses: error code to description. */
  errorExamples: Readonly<Record<string, string>>;
  /** The status of `too_many_attempts`. */
  tooManyAttemptsStatus: 429 | 503;
}

/** An optional parameter: an empty value counts as omitted (RFC 6749 §3.1). */
export function formParameter(description: string): FormSchemas[string] {
  return { type: 'string', description };
}

/** A required parameter: it must not be empty, because an empty value counts as omitted (RFC 6749 §3.1). */
export function requiredFormParameter(description: string): FormSchemas[string] {
  return { type: 'string', description, minLength: 1 };
}

/** Documents the credentials, form and errors of a client endpoint. */
export function ApiClientEndpoint(operation: ClientOperation): MethodDecorator {
  const { operationId, summary, description, form, required } = operation;
  const tooMany = new TooManyAttempts(RETRY_AFTER['Retry-After'].example);
  const unavailable = new TemporarilyUnavailable();
  return applyDecorators(
    ApiTags('oauth'),
    ApiOperation({
      operationId,
      summary,
      description,
      security: [{ [CLIENT_SECURITY_SCHEME]: [] }, {}],
    }),
    ApiConsumes('application/x-www-form-urlencoded'),
    ApiBody({
      schema: {
        type: 'object',
        required: [...required],
        properties: {
          ...form,
          client_id: requiredFormParameter('Required, unless the request uses HTTP Basic.'),
          client_secret: formParameter(
            'Required for confidential apps, unless the request uses HTTP Basic.',
          ),
        },
      },
    }),
    ApiResponse({
      status: 400,
      type: OAuthErrorResponse,
      description: 'The request is invalid (RFC 6749 §5.2).',
      examples: Object.fromEntries(
        Object.entries(operation.errorExamples).map(([error, error_description]) => [
          error,
          { summary: error, value: { error, error_description } },
        ]),
      ),
    }),
    errorResponse(
      '`client_id` is missing, or client authentication failed.',
      [new InvalidClient({ needsChallenge: true }), new MissingClientId(), new MalformedBasic()],
      {
        'WWW-Authenticate': {
          description: 'Present when the request used HTTP Basic.',
          schema: { type: 'string', example: 'Basic realm="oauth", charset="UTF-8"' },
        },
      },
    ),
    errorResponse('`invalid_request`: the form did not arrive in time.', [new FormTooSlow()]),
    errorResponse('`invalid_request`: the form is too large.', [new FormTooLarge()]),
    errorResponse('`server_error`', [new ServerError()]),
    ...(operation.tooManyAttemptsStatus === 429
      ? [
          errorResponse('Too many attempts.', [tooMany], RETRY_AFTER),
          errorResponse('`temporarily_unavailable`: try again.', [unavailable], RETRY_AFTER),
        ]
      : [
          errorResponse(
            '`temporarily_unavailable` or `too_many_attempts`: nothing was revoked, try again.',
            [unavailable, tooMany],
            RETRY_AFTER,
          ),
        ]),
  );
}

/** The names of examples that are not the error code. */
const EXAMPLE_NAMES: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [MissingClientId, 'missing_client_id'],
  [MalformedBasic, 'malformed_basic'],
]);

/** An error response with the status of the first error and an example of each error. */
function errorResponse(
  description: string,
  errors: readonly [OAuthError, ...OAuthError[]],
  headers?: ApiResponseOptions['headers'],
): MethodDecorator {
  return ApiResponse({
    status: errors[0].httpStatus,
    type: OAuthErrorResponse,
    description,
    ...(headers && { headers }),
    examples: Object.fromEntries(
      errors.map((error) => [
        EXAMPLE_NAMES.get(error.constructor) ?? error.code,
        { summary: error.message, value: OAuthErrorResponse.from(error) },
      ]),
    ),
  });
}
