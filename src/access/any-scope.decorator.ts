import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiOAuth2 } from '@nestjs/swagger';
import { ApiErrors } from '../http/api-errors.decorator.js';
import { InvalidToken, SeveralCredentials, Unauthorized } from './access.errors.js';
import { REQUIRED_SCOPE } from './scopes.decorator.js';
import { SECURITY_SCHEME } from './security-scheme.js';

/** The declaration of a route that every valid access token opens, whatever its scopes. */
export const ANY_SCOPE = 'any';

/** Every valid access token opens the route: it tells the app about itself, and nothing about the user. */
export function AnyScope(): MethodDecorator {
  return applyDecorators(
    SetMetadata(REQUIRED_SCOPE, ANY_SCOPE),
    ApiOAuth2([], SECURITY_SCHEME),
    ApiErrors(new SeveralCredentials(), new Unauthorized(), InvalidToken.unknown()),
  );
}
