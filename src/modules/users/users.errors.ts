import { InvalidRequest, NotFound } from '../../common/errors.js';

export class PhoneTaken extends InvalidRequest {
  constructor() {
    super('A user with this phone number exists already.');
  }
}

/** No user has this id. */
export class UnknownUser extends NotFound {
  constructor(id: string) {
    super(`No user has the id ${id}. "user show --phone" finds it by the phone number.`);
  }
}
