import { APPS_PATH } from '../oauth-pages.js';

/** What the addresses of the account's pages begin with. */
export const ACCOUNT_PATH = '/account';

/** The page of a connected app, or of all. */
export function addressOf(clientId: string | undefined): string {
  return clientId === undefined ? APPS_PATH : `${APPS_PATH}/${clientId}`;
}
