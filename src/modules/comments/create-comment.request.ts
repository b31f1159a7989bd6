import { TextField, ReferenceField, RequestSchema } from '../../platform/http/validation/fields.js';

@RequestSchema({ name: 'CreateComment', description: 'The comment to create.' })
export class CreateCommentRequest {
  @TextField({
    max: 2000,
    required: true,
    description:
      'Text of the comment. Not blank, without control characters other than tab, line feed and carriage return.',
    example: 'Count me in!',
  })
  text: string;

  @ReferenceField({
    prefix: 'cmt',
    description:
      'Identifier of the comment to reply to, which must be on the same post. Null if the comment is not a reply.',
    example: null,
  })
  parentId?: string | null;
}
