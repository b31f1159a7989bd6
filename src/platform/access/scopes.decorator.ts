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

/** The name of the API's security scheme in the published document. */
export const SECURITY_SCHEME = 'oauth2';

/** That of the endpoints that apps call for themselves, which take the credentials in the form as well. */
export const CLIENT_SECURITY_SCHEME = 'client';

export const PUBLIC = 'access:public';

/** A route that needs no access token. Every other route must declare its scope. */
export const Public = (): MethodDecorator & ClassDecorator => SetMetadata(PUBLIC, true);

export const REQUIRED_SCOPE = 'access:scope';

/** The scope that a route needs: enforced by the guard, and documented with the errors of the guards. */
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
  );
}

/** The declaration of a route that every valid access token opens, whatever its scopes. */
export const ANY_SCOPE = 'any';

/** Any valid access token may call the route, which returns facts about the app and none about the user. */
export function AnyScope(): MethodDecorator {
  return applyDecorators(
    SetMetadata(REQUIRED_SCOPE, ANY_SCOPE),
    ApiOAuth2([], SECURITY_SCHEME),
    ApiErrors(new SeveralCredentials(), new Unauthorized(), InvalidToken.unknown()),
  );
}
