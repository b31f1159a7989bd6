import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiOAuth2 } from '@nestjs/swagger';
import { ApiErrors } from '../http/errors/api-errors.js';
import {
  InsufficientScope,
  InvalidToken,
  SeveralCredentials,
  Unauthorized,
} from './access.errors.js';
import type { Scope } from './scopes.js';
import { AcceptsTestFault } from './test-fault.js';

/** Security scheme of the API in the OpenAPI document. */
export const SECURITY_SCHEME = 'oauth2';

/** Security scheme of the OAuth endpoints that authenticate the client. */
export const CLIENT_SECURITY_SCHEME = 'client';

export const PUBLIC = 'access:public';

/** The route needs no access token. All other routes must declare `@Scopes` or `@AnyScope`. */
export const Public = (): MethodDecorator & ClassDecorator => SetMetadata(PUBLIC, true);

export const REQUIRED_SCOPE = 'access:scope';

/** The route requires this scope. Documents the scope and the errors of `BearerGuard` and `ScopesGuard`. */
export function Scopes(scope: Scope): MethodDecorator {
  return applyDecorators(
    SetMetadata(REQUIRED_SCOPE, scope),
    ApiOAuth2([scope], SECURITY_SCHEME),
    ApiErrors(
      new SeveralCredentials(),
      new Unauthorized(),
      InvalidToken.unknown(),
      new InsufficientScope(scope),
    ),
    AcceptsTestFault(),
  );
}

export const ANY_SCOPE = 'any';

/** The route accepts any valid access token. For data about the app, not about the user. */
export function AnyScope(): MethodDecorator {
  return applyDecorators(
    SetMetadata(REQUIRED_SCOPE, ANY_SCOPE),
    ApiOAuth2([], SECURITY_SCHEME),
    ApiErrors(new SeveralCredentials(), new Unauthorized(), InvalidToken.unknown()),
    AcceptsTestFault(),
  );
}
