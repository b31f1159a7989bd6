import { TextField, ReferenceField } from '../../platform/http/validation/fields.js';
import { RequestSchema } from '../../platform/http/validation/request-schema.js';

@RequestSchema({ name: 'CreateComment', description: 'A comment to add.' })
export class CreateCommentRequest {
  @TextField({
    max: 2000,
    required: true,
    description:
      'What the comment says: not blank, without control characters other than tab, line feed and carriage return.',
    example: 'Count me in!',
  })
  text: string;

  @ReferenceField({
    prefix: 'cmt',
    description: 'Id of the comment replied to, which must be on the same post; null for none.',
    example: null,
  })
  parentId?: string | null;
}
