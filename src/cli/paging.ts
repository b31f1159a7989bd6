import { Option } from 'commander';
import type { Paging, Part } from '../platform/database/list-page.js';
import type { CliCommand, Result } from './command.js';
import { countUpTo } from './option-values.js';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1000;

/** The part of a list, newest first, that a command prints. */
export type PagingOptions = Pick<Paging, 'limit' | 'before'>;

/** Adds `--limit` and `--before`. @param parseId parses the id of an item of the list */
export function addPaging(command: CliCommand, parseId: (text: string) => string): CliCommand {
  return command
    .addOption(
      new Option('--limit <number>', `maximum number of results, at most ${MAX_LIMIT}`)
        .argParser(countUpTo(MAX_LIMIT))
        .default(DEFAULT_LIMIT, String(DEFAULT_LIMIT)),
    )
    .option('--before <id>', 'only older results: continue after this id', parseId);
}

/**
 * The result of a list: one JSON object with the items under `name`, and `next_before`, the value of `--before` that continues the list,
 * or null at its end.
 */
export function listResult<T extends { id: string }>(
  name: string,
  { items, hasMore }: Part<T>,
  { json, text }: { json: readonly object[]; text: string },
): Result {
  const last = hasMore ? items.at(-1)?.id : undefined;
  return {
    json: { [name]: json, next_before: last ?? null },
    text,
    ...(last !== undefined && { note: `There are more. To continue, add --before ${last}` }),
  };
}
