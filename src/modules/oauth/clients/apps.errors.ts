import { NotFound } from '../../../platform/errors.js';

/** No app has this client_id. */
export class UnknownApp extends NotFound {
  constructor() {
    super('There is no app with this client_id. "app list" shows them all.');
  }
}
