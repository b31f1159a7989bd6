import { InvalidRequest, NotFound } from '../../common/errors.js';

/** The comment does not exist, was deleted, or somebody else wrote it (source document, section 4.2, rule 4). */
export class CommentNotFound extends NotFound {
  static override readonly example = 'There is no such comment by this user.';

  constructor() {
    super(CommentNotFound.example);
  }
}

/** The source document, section 4.2, rule 5. */
export function parentNotOnPost(): InvalidRequest {
  return InvalidRequest.field(
    'parentId',
    'invalid_reference',
    'parentId must be the id of a comment on this post.',
  );
}
