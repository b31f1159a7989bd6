import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiOAuth2 } from '@nestjs/swagger';
import type { Scope } from '../common/scopes.js';
import { ApiErrors } from '../http/api-errors.decorator.js';
import {
  InsufficientScope,
  InvalidToken,
  SeveralCredentials,
  Unauthorized,
} from './access.errors.js';
import { SECURITY_SCHEME } from './security-scheme.js';

export const REQUIRED_SCOPE = 'access:scope';

/** The scope that a route needs: enforced by the guard, and written into the published document with what the guards can answer. */
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
