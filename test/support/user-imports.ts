import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { User } from '../../src/modules/users/user.entity.js';
import { useCommands } from './commands.js';
import type { TestDatabase } from './database.js';
import { useFolder } from './folder.js';

interface ImportResult {
  invalid: number;
  errors: { line: number; problem: string }[];
}

/** A service with files for `user import`, and the imported users. Call it in a `describe`. */
export function useImports(database: TestDatabase) {
  const { app, cli } = useCommands(database);
  const folder = useFolder();
  const users = () => app().dataSource.getRepository(User);
  const imports = {
    write: async (name: string, content: string | Buffer): Promise<string> => {
      const path = join(folder, name);
      await writeFile(path, content);
      return path;
    },
    run: async (path: string, ...args: string[]): Promise<ImportResult & { code: number }> => {
      const { code, stdout } = await cli.run('user', 'import', path, '--json', ...args);
      return { code, ...(JSON.parse(stdout) as ImportResult) };
    },
    users: () => users().find({ order: { phone: 'ASC' } }),
    byPhone: (phone: string) => users().findOneBy({ phone }),
  };
  return { app, cli, folder, users, imports };
}
