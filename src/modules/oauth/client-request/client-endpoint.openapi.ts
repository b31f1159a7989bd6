import { applyDecorators } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiOperation,
  ApiResponse,
  ApiTags,
  type ApiBodyOptions,
} from '@nestjs/swagger';
import { CLIENT_SECURITY_SCHEME } from '../../../access/security-scheme.js';
import { RETRY_AFTER } from '../../../http/schemas.js';
import { UnnamedClient } from '../oauth.errors.js';
import { OAuthErrorResponse } from './dto/oauth-error.response.js';

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
    ...(throttled === 429
      ? [
          ApiResponse({
            status: 429,
            type: OAuthErrorResponse,
            description: 'Too many attempts.',
            headers: RETRY_AFTER,
          }),
        ]
      : []),
    ApiResponse({ status: 500, type: OAuthErrorResponse, description: '`server_error`' }),
    ApiResponse({
      status: 503,
      type: OAuthErrorResponse,
      description:
        throttled === 503
          ? '`temporarily_unavailable` or `too_many_attempts`: nothing has changed, try again.'
          : '`temporarily_unavailable`: try again.',
      headers: RETRY_AFTER,
    }),
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
    ApiResponse({
      status: 401,
      type: OAuthErrorResponse,
      description: 'No app is named, or the one that is named could not be authenticated.',
      headers: {
        'WWW-Authenticate': {
          description: 'When HTTP Basic was tried.',
          schema: { type: 'string', example: 'Basic realm="oauth", charset="UTF-8"' },
        },
      },
      examples: {
        invalid_client: example(
          'invalid_client',
          'The client is unknown or its credentials are wrong.',
        ),
        unnamed: {
          ...example('invalid_client', new UnnamedClient().message),
          summary: 'no client',
        },
      } as never,
    }),
    ApiResponse({
      status: 408,
      type: OAuthErrorResponse,
      description: '`invalid_request`: the form did not arrive in time.',
    }),
    ApiResponse({
      status: 413,
      type: OAuthErrorResponse,
      description: '`invalid_request`: the form is too large.',
    }),
  ];
}

function example(error: string, error_description: string): object {
  return { summary: error, value: { error, error_description } };
}
