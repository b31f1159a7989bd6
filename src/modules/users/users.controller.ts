import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiSchema, ApiTags } from '@nestjs/swagger';
import { CallerOf, type Caller } from '../../platform/access/caller.js';
import { Scopes } from '../../platform/access/scopes.decorator.js';
import { ApiServerErrors } from '../../platform/http/errors/api-errors.js';
import { DEV_V1 } from '../../platform/http/developer-api.js';
import { idPattern } from '../../platform/ids.js';
import { UsersService } from './users.service.js';

@ApiSchema({ name: 'User', description: 'The user who authorized the app.' })
export class ProfileResponse {
  @ApiProperty({
    description: 'Unique identifier of the user.',
    pattern: idPattern('usr').source,
    example: 'usr_01kahq5f3veqdr8bn3tdmx3q0a',
  })
  id: string;

  @ApiProperty({ description: 'Display name.', example: 'Ana Lee' })
  name: string;

  @ApiProperty({
    type: String,
    nullable: true,
    format: 'uri',
    description: "URL of the user's profile photo, or null.",
    example: 'https://example.com/photos/ana.jpg',
  })
  photoUrl: string | null;

  @ApiProperty({ type: 'integer', description: 'Reputation score in the network.', example: 128 })
  karma: number;

  @ApiProperty({
    type: String,
    nullable: true,
    description: "The user's saved neighbourhood, or null.",
    example: 'Riverside',
  })
  neighborhood: string | null;
}

@ApiTags('users')
@ApiServerErrors()
@Controller(DEV_V1)
export class UsersController {
  constructor(private readonly users: UsersService) {}

  @Get('me')
  @Scopes('profile.read')
  @ApiOperation({
    operationId: 'getMe',
    summary: 'Retrieve the profile of the user who authorized the app',
    description: 'Store `id` to recognize the user; the other fields can change.',
  })
  @ApiOkResponse({ type: ProfileResponse })
  async getMe(@CallerOf() { userId }: Caller): Promise<ProfileResponse> {
    const { id, name, photoUrl, karma, neighborhood } = await this.users.profile(userId);
    return { id, name, photoUrl, karma, neighborhood };
  }
}
