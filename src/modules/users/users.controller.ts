import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CallerOf, type Caller } from '../../platform/access/caller.js';
import { Scopes } from '../../platform/access/scopes.decorator.js';
import { ApiFaults } from '../../platform/http/errors/api-errors.js';
import { DEV_V1 } from '../../platform/http/developer-api.js';
import { ProfileResponse } from './profile.response.js';
import { UsersService } from './users.service.js';

@ApiTags('users')
@ApiFaults()
@Controller(DEV_V1)
export class UsersController {
  constructor(private readonly users: UsersService) {}

  @Get('me')
  @Scopes('profile.read')
  @ApiOperation({
    operationId: 'getMe',
    summary: 'Read the profile of the user who authorized the app',
  })
  @ApiOkResponse({ type: ProfileResponse })
  async getMe(@CallerOf() caller: Caller): Promise<ProfileResponse> {
    return ProfileResponse.from(await this.users.profile(caller.userId));
  }
}
