import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { idPattern } from '../common/ids.js';

/** The delete result of the source document, section 2. */
@ApiSchema({ name: 'Deleted', description: 'What was deleted.' })
export class DeletedResponse {
  @ApiProperty({
    description: 'Id of the post or comment.',
    pattern: `${idPattern('post').source}|${idPattern('cmt').source}`,
    example: 'post_01kahq5f3veqdr8bn3tdmx3q0a',
  })
  id: string;

  @ApiProperty({ description: 'Always true.', enum: [true], example: true })
  deleted: true;

  static of(id: string): DeletedResponse {
    return { id, deleted: true };
  }
}
