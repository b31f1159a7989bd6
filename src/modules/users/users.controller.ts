import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CallerOf, type Caller } from '../../access/caller.js';
import { Scopes } from '../../access/scopes.decorator.js';
import { ApiFaults } from '../../http/api-errors.decorator.js';
import { DEV_V1 } from '../../http/routes.js';
import { ProfileResponse } from './dto/profile.response.js';
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
