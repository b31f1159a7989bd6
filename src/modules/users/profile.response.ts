import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { idPattern } from '../../platform/ids.js';
import type { Profile } from './users.repository.js';

@ApiSchema({ name: 'User', description: 'The user who authorized the app.' })
export class ProfileResponse {
  @ApiProperty({
    description: 'Id of the user.',
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
    description: 'URL of a photo, or null.',
    example: 'https://example.com/photos/ana.jpg',
  })
  photoUrl: string | null;

  @ApiProperty({ type: 'integer', description: 'Standing in the network.', example: 128 })
  karma: number;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The saved neighbourhood, or null.',
    example: 'Riverside',
  })
  neighborhood: string | null;

  static from({ id, name, photoUrl, karma, neighborhood }: Profile): ProfileResponse {
    return { id, name, photoUrl, karma, neighborhood };
  }
}
