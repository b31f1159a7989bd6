import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { SECOND } from '../../../../common/clock.js';
import type { TokenState } from '../introspection.repository.js';

@ApiSchema({
  name: 'Introspection',
  description:
    'The introspection response of RFC 7662 §2.2. A token that is not alive is told by `active` alone.',
})
export class IntrospectionResponse {
  @ApiProperty({ description: 'Whether the token is alive.', example: true })
  active: boolean;

  @ApiPropertyOptional({
    description: 'The scopes, separated by spaces.',
    example: 'profile.read posts.read',
  })
  scope?: string;

  @ApiPropertyOptional({
    description: 'The app that holds it.',
    example: 'svc_app_01h455vb4pex5vsknk084sn02q',
  })
  client_id?: string;

  @ApiPropertyOptional({
    description: "The user's id.",
    example: 'usr_01h455vb4pex5vsknk084sn02q',
  })
  sub?: string;

  @ApiPropertyOptional({
    type: 'integer',
    description: 'When the token ends, in seconds since 1970.',
    example: 1_795_255_800,
  })
  exp?: number;

  @ApiPropertyOptional({
    type: 'integer',
    description: 'When the token was issued, in seconds since 1970.',
    example: 1_795_252_200,
  })
  iat?: number;

  @ApiPropertyOptional({ enum: ['Bearer'], description: 'Of access tokens only.' })
  token_type?: 'Bearer';

  @ApiPropertyOptional({
    format: 'uri',
    description: 'The issuer.',
    example: 'https://dev.example.com',
  })
  iss?: string;

  static from(state: TokenState | null, issuer: string): IntrospectionResponse {
    if (!state) return { active: false };
    const { kind, scope, clientId, userId, expiresAt, createdAt } = state;
    return {
      active: true,
      scope,
      client_id: clientId,
      sub: userId,
      exp: inSeconds(expiresAt),
      iat: inSeconds(createdAt),
      ...(kind === 'access' && { token_type: 'Bearer' }),
      iss: issuer,
    };
  }
}

function inSeconds(time: Date): number {
  return Math.floor(time.getTime() / SECOND);
}
