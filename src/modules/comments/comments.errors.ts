import { InvalidRequest, NotFound } from '../../platform/errors.js';

/** The comment does not exist, was deleted, or somebody else wrote it (source document, section 4.2, rule 4). */
export class CommentNotFound extends NotFound {
  constructor() {
    super('There is no such comment by this user.');
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
