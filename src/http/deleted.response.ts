import { ApiProperty, ApiSchema } from '@nestjs/swagger';

/** The delete result of the source document, section 2. */
@ApiSchema({ name: 'Deleted' })
export class DeletedResponse {
  @ApiProperty({ description: 'What was deleted.', example: 'post_01kahq5f3veqdr8bn3tdmx3q0a' })
  id: string;

  @ApiProperty({ enum: [true], example: true })
  deleted: true;

  static of(id: string): DeletedResponse {
    return { id, deleted: true };
  }
}
