import type { OpenAPIObject } from '@nestjs/swagger';
import { ERROR_STATUS } from '../../http/error-status.js';
import { FIELD_ERROR_CODES } from '../../http/error.response.js';
import { openCode } from '../../http/schemas.js';
import { CODES as OAUTH_CODES } from '../../modules/oauth/client-request/dto/oauth-error.response.js';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Response = Exclude<Operation['responses'][string], { $ref: string } | undefined>;
type Content = NonNullable<Response['content']>[string];

/** All codes that there are, as schemas of their own, so that generated clients have them as types. */
export const CODE_SCHEMAS = {
  ErrorCode: codes('The codes of errors under /dev/v1.', Object.keys(ERROR_STATUS)),
  FieldErrorCode: codes('What can be wrong with a field.', Object.keys(FIELD_ERROR_CODES)),
  OAuthErrorCode: codes('The codes of errors that apps get from /oauth.', OAUTH_CODES),
};

/** An answer whose error body is narrowed to the codes of its examples: each code that it can have has one. */
export function withCodes(answer: Response): Response {
  const { 'application/json': content, ...others } = answer.content ?? {};
  const present = content ? codesIn(content) : [];
  if (!content?.schema || present.length === 0) return answer;
  const error = openCode({ type: 'string', enum: present });
  const schema = { allOf: [content.schema, { properties: { error } }] };
  return {
    ...answer,
    description: answer.description || present.map((code) => `\`${code}\``).join(', '),
    content: { ...others, 'application/json': { ...content, schema } },
  };
}

function codesIn({ examples = {} }: Content): string[] {
  const bodies = Object.values(examples).map((example) =>
    'value' in example ? example.value : {},
  );
  return [...new Set((bodies as { error?: string }[]).flatMap(({ error }) => error ?? []))];
}

function codes(
  description: string,
  values: readonly string[],
): { type: 'string'; description: string; enum: string[] } {
  return { type: 'string', description, enum: [...values] };
}
