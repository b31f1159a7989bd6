import { Controller, Get } from '@nestjs/common';
import { CallerOf, type Caller } from '../auth/caller.js';
import { Scopes } from '../auth/scopes.decorator.js';
import { ProfileDto } from './profile.dto.js';

@Controller('me')
export class UsersController {
  /** `AuthGuard` has loaded the user. */
  @Get()
  @Scopes('profile.read')
  getMe(@CallerOf() { user }: Caller): ProfileDto {
    return new ProfileDto(user);
  }
}
