import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { SECOND } from '../../../../common/clock.js';
import { formatScope } from '../../../../common/scopes.js';
import type { IssuedTokens } from '../token-issuer.js';

@ApiSchema({ name: 'Token', description: 'The tokens: the response of RFC 6749 §5.1.' })
export class TokenResponse {
  @ApiProperty({
    description: 'Opens the API until it expires.',
    pattern: '^svcat_[A-Za-z0-9_-]{43}$',
    example: 'svcat_7Zr0cN3VxH5nQkS2mYw8bTfJdLpGaEuR1oXiK4vC9sM',
  })
  access_token: string;

  @ApiProperty({ description: 'How the token is sent.', enum: ['Bearer'], example: 'Bearer' })
  token_type: 'Bearer';

  @ApiProperty({
    type: 'integer',
    minimum: 1,
    description: 'Lifetime of the access token, in seconds.',
    example: 3600,
  })
  expires_in: number;

  @ApiProperty({
    description: 'Gets the next pair of tokens, once.',
    pattern: '^svcrt_[A-Za-z0-9_-]{43}$',
    example: 'svcrt_Q2mYw8bTfJdLpGaEuR1oXiK4vC9sM7Zr0cN3VxH5nkS',
  })
  refresh_token: string;

  @ApiProperty({
    description:
      'The scopes actually granted, separated by spaces. May be fewer than were asked for.',
    example: 'profile.read posts.read',
  })
  scope: string;

  /** @param now when it is sent, which may be a while after the tokens were made */
  static from(
    { accessToken, refreshToken, expiresAt, scopes }: IssuedTokens,
    now: Date,
  ): TokenResponse {
    return {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: secondsLeft(expiresAt, now),
      refresh_token: refreshToken,
      scope: formatScope(scopes),
    };
  }
}

/** Whole seconds, of which one that has just begun counts, and never below 1, since clients read 0 as "does not expire". */
function secondsLeft(expiresAt: Date, now: Date): number {
  return Math.max(1, Math.ceil((expiresAt.getTime() - now.getTime()) / SECOND));
}
