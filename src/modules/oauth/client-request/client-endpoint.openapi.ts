import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
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
  /** What a 400 may read like: error code to description. */
  refusals: Readonly<Record<string, string>>;
  /** The status of "too many attempts". */
  throttled: 429 | 503;
}

export interface FormParameter {
  type: 'string';
  description?: string;
  enum?: string[];
}

/** A parameter of a form, described. */
export function formText(description: string): FormParameter {
  return { type: 'string', description };
}

const WAIT = {
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' as const } },
};

/** An endpoint for apps in the published document: credentials, form, and the errors that all of them have. */
export function ApiClientEndpoint(operation: ClientOperation): MethodDecorator {
  const { operationId, summary, description, form, required, throttled } = operation;
  return applyDecorators(
    ApiTags('oauth'),
    ApiOperation({ operationId, summary, description }),
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
      },
    }),
    ...refusals(operation),
    ...(throttled === 429
      ? [
          ApiResponse({
            status: 429,
            type: OAuthErrorResponse,
            description: 'Too many attempts.',
            headers: WAIT,
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
      headers: WAIT,
    }),
  );
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
          schema: { type: 'string' },
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
      status: 413,
      type: OAuthErrorResponse,
      description: '`invalid_request`: the form is too large.',
    }),
  ];
}

function example(error: string, error_description: string): object {
  return { summary: error, value: { error, error_description } };
}
