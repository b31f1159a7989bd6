import type { Session } from '../session.js';

/** Id and name of an app, such as `svc_app_… (Garden Share)`. */
export async function appLabel(session: Session, clientId: string): Promise<string> {
  const app = await session.get('AppsService').find(clientId);
  return app ? `${clientId} (${app.name})` : clientId;
}

/** Id and name of a user, such as `usr_… (Ana Lee)`. Only the id of an erased user. */
export async function userLabel(session: Session, userId: string): Promise<string> {
  const user = await session.get('UsersService').author(userId);
  return user ? `${userId} (${user.name})` : userId;
}
