import { NotFound } from '../../platform/errors.js';

/** The post does not exist, was deleted, or is another user's: nobody can tell which (source document, section 4.2, rule 2). */
export class PostNotFound extends NotFound {
  constructor() {
    super('There is no such post among the posts of this user.');
  }
}
