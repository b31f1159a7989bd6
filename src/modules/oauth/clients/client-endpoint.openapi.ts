import { applyDecorators } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiOperation,
  ApiResponse,
  ApiTags,
  type ApiBodyOptions,
  type ApiResponseOptions,
} from '@nestjs/swagger';
import { CLIENT_SECURITY_SCHEME } from '../../../platform/access/scopes.decorator.js';
import { RETRY_AFTER } from '../../../platform/http/validation/schemas.js';
import {
  FormTooLarge,
  FormTooSlow,
  InvalidClient,
  ServerError,
  TemporarilyUnavailable,
  TooManyAttempts,
  UnnamedClient,
  type OAuthError,
} from '../protocol/oauth.errors.js';
import { OAuthErrorResponse } from './oauth-error.filter.js';

const TOO_MANY = new TooManyAttempts(RETRY_AFTER['Retry-After'].example);

/** What tells one endpoint for apps from another in the published document. */
export interface ClientOperation {
  operationId: string;
  summary: string;
  description: string;
  /** Parameters of the form, beside the client's credentials. */
  form: Readonly<Record<string, FormParameter>>;
  required: readonly string[];
  /** Of the token endpoint: what each grant needs. */
  alternatives?: readonly { grant_type: string; required: readonly string[] }[];
  /** What a 400 may read like: error code to description. */
  refusals: Readonly<Record<string, string>>;
  /** The status of "too many attempts". */
  throttled: 429 | 503;
}

export interface FormParameter {
  type: 'string';
  description?: string;
  enum?: string[];
  minLength?: number;
  pattern?: string;
}

/** A parameter of a form, described. */
export function formText(description: string): FormParameter {
  return { type: 'string', description };
}

/** One that must not be empty, since an empty parameter counts as omitted (RFC 6749 §3.2). */
export function formValue(description: string): FormParameter {
  return { ...formText(description), minLength: 1 };
}

/** An endpoint for apps in the published document: credentials, form, and the errors that all of them have. */
export function ApiClientEndpoint(operation: ClientOperation): MethodDecorator {
  const { operationId, summary, description, form, required, alternatives, throttled } = operation;
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
          client_id: formText('Required unless HTTP Basic is used.'),
          client_secret: formText('Of a confidential app, unless HTTP Basic is used.'),
        },
        ...(alternatives && { anyOf: alternatives.map(grantForm) }),
      },
    }),
    ...refusals(operation),
    ...(throttled === 429 ? [refusal(429, 'Too many attempts.', [TOO_MANY], RETRY_AFTER)] : []),
    refusal(500, '`server_error`', [new ServerError()]),
    throttled === 503
      ? refusal(
          503,
          '`temporarily_unavailable` or `too_many_attempts`: nothing has changed, try again.',
          [new TemporarilyUnavailable(), TOO_MANY],
          RETRY_AFTER,
        )
      : refusal(
          503,
          '`temporarily_unavailable`: try again.',
          [new TemporarilyUnavailable()],
          RETRY_AFTER,
        ),
  );
}

function grantForm({
  grant_type,
  required,
}: {
  grant_type: string;
  required: readonly string[];
}): NonNullable<Extract<ApiBodyOptions, { schema: object }>['schema']> {
  return {
    properties: {
      grant_type: { type: 'string', enum: [grant_type] },
      ...Object.fromEntries(required.map((name) => [name, { type: 'string', minLength: 1 }])),
    },
    required: [...required],
  };
}

function refusals({ refusals: descriptions }: ClientOperation): MethodDecorator[] {
  return [
    ApiResponse({
      status: 400,
      type: OAuthErrorResponse,
      description: 'The request is refused (RFC 6749 §5.2).',
      examples: Object.fromEntries(
        Object.entries(descriptions).map(([error, text]) => [error, example(error, text)]),
      ) as never,
    }),
    refusal(
      401,
      'No app is named, or the one that is named could not be authenticated.',
      [new InvalidClient(true), new UnnamedClient()],
      {
        'WWW-Authenticate': {
          description: 'When HTTP Basic was tried.',
          schema: { type: 'string', example: 'Basic realm="oauth", charset="UTF-8"' },
        },
      },
    ),
    refusal(408, '`invalid_request`: the form did not arrive in time.', [new FormTooSlow()]),
    refusal(413, '`invalid_request`: the form is too large.', [new FormTooLarge()]),
  ];
}

/** An answer by one of each error that it may be. */
function refusal(
  status: number,
  description: string,
  errors: readonly OAuthError[],
  headers?: ApiResponseOptions['headers'],
): MethodDecorator {
  return ApiResponse({
    status,
    type: OAuthErrorResponse,
    description,
    ...(headers && { headers }),
    examples: Object.fromEntries(
      errors.map((error) => [
        error instanceof UnnamedClient ? 'unnamed' : error.code,
        { summary: error.message, value: OAuthErrorResponse.from(error) },
      ]),
    ),
  });
}

function example(error: string, error_description: string): object {
  return { summary: error, value: { error, error_description } };
}
