import { beforeEach } from 'vitest';
import { CommandLine } from './command-line.js';
import type { TestDatabase } from './database.js';
import { Member } from './member.js';
import { useTestApp } from './test-app.js';

/** A service, the command line on its database, and a new member for each test. Call it in a `describe`. */
export function useMemberAndCommands(database: TestDatabase) {
  const app = useTestApp(database);
  let member: Member;
  beforeEach(async () => {
    // Commands use the real clock.
    app().clock.set(new Date().toISOString());
    member = await Member.join(app());
  });
  return { app, cli: new CommandLine(database), member: () => member };
}
