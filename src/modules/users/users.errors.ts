import { InvalidRequest } from '../../common/errors.js';

export class PhoneTaken extends InvalidRequest {
  constructor() {
    super('A user with this phone number exists already.');
  }
}
