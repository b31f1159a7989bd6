import { beforeEach } from 'vitest';
import { CommandLine, runCommand } from './command-line.js';
import type { TestDatabase } from './database.js';
import { Member } from './member.js';
import { useTestApp } from './test-app.js';

/** A service with the real clock, which commands use, and the command line on its database. Call it in a `describe`. */
export function useCommands(database: TestDatabase, env: Record<string, string> = {}) {
  const app = useTestApp(database);
  beforeEach(() => app().clock.set(new Date().toISOString()));
  return { app, cli: new CommandLine(database, runCommand, env) };
}

/** Like `useCommands`, with a new member for each test. */
export function useMemberAndCommands(database: TestDatabase, env: Record<string, string> = {}) {
  const { app, cli } = useCommands(database, env);
  let member: Member;
  beforeEach(async () => {
    member = await Member.join(app());
  });
  return { app, cli, member: () => member };
}
