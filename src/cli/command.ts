import { Command, type HelpContext, Option } from 'commander';
import { addMilliseconds, DAY, MINUTE } from '../platform/clock.js';
import type { ListPaging, Part } from '../platform/database/list-page.js';
import type { ItemSearch, TimeRange } from '../platform/database/rows-in-pages.js';
import { InvalidRequest } from '../platform/errors.js';
import { isAnyId } from '../platform/ids.js';
import {
  countUpTo,
  parseClientId,
  parseTime,
  parseUserId,
  textUpTo,
  TIME_FORMATS,
  type TimeOption,
} from './option-values.js';
import type { Result, Session } from './session.js';

/** The name of the program: `bin` of package.json. */
export const PROGRAM = 'devplatform';

/** Ids in the examples of the help. */
export const EXAMPLE_APP = 'svc_app_01h455vb4pex5vsknk084sn02q';
export const EXAMPLE_TEST_APP = 'svc_app_test_01h455vb4pex5vsknk084sn02q';
export const EXAMPLE_USER = 'usr_01h455vb4pex5vsknk084sn02q';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1000;

/** The part of a list, newest first, that a command prints. */
export type PagingOptions = ListPaging;

export interface TimeOptions {
  since?: TimeOption;
  until?: TimeOption;
}

/** Starts the application, runs `work`, prints its result and closes the application. */
export type Runner = (
  command: CliCommand,
  work: (session: Session) => Promise<Result | void>,
) => Promise<void>;

/** A command or a group of commands. Help and usage errors do not start the application. */
export class CliCommand extends Command {
  /** The members of the JSON result; undefined for a group. */
  jsonMembers?: string;
  /** The sentence of the help about the confirmation; undefined for a command that never asks. */
  confirmation?: string;
  /**
   * What the command needs to run. With `any schema`, the schema may have any version. `new database` is like it, and the file of a
   * SQLite database is created. `nothing` is like `any schema`, and the application may fail to start: `Session.get` then throws the
   * start error.
   */
  needs: 'current schema' | 'any schema' | 'new database' | 'nothing' = 'current schema';

  constructor(
    private readonly runner: Runner,
    name?: string,
  ) {
    super(name);
  }

  override createCommand(name?: string): CliCommand {
    return new CliCommand(this.runner, name);
  }

  /** Fails for an unknown command before `--help`, for which commander would print the help of the group. */
  override outputHelp(context?: HelpContext | ((text: string) => string)): void {
    const [name = '-'] = this.args;
    const isCommand = name.startsWith('-') || name === 'help';
    if (this.commands.length > 0 && !isCommand) this.error(`error: unknown command '${name}'`);
    super.outputHelp(context as HelpContext);
  }

  /** Shows examples at the top of the help. */
  examples(...lines: string[]): this {
    return this.addHelpText('before', examples(...lines));
  }

  /**
   * Declares the JSON result, which the help shows. The tests compare it with every result.
   * @param members such as `{id, apps: [{name}], reason?}`: `?` marks a member that is not always present, and `…` members that vary.
   * Lists of texts or numbers have no brackets.
   */
  printsJson(members: string): this {
    this.jsonMembers = members;
    return this;
  }

  /** Adds `--reason`, for a command that writes to the audit log. */
  acceptsReason(): this {
    return this.option('--reason <text>', 'reason to record in the audit log', textUpTo(500)).hook(
      'preAction',
      (_, own) => {
        const { actor = '' } = own.optsWithGlobals<{ actor?: string }>();
        // An id or this name would look like an act of the member, the app or the service itself.
        if (isAnyId(actor) || /^service$/i.test(actor))
          own.error(
            `error: option '--actor <name>' argument '${actor}' is invalid. It must be the name of a person, not an id or "service".`,
          );
      },
    );
  }

  /**
   * Adds `--dry-run`, for a command that may change many rows. The command decides by `Session.isDryRun`.
   * @param effect such as `print the number of grants, but revoke nothing`
   */
  acceptsDryRun(effect: string): this {
    return this.option('--dry-run', effect);
  }

  /** Adds `--limit` and `--before`. @param parseId parses the id of an item of the list */
  acceptsPaging(parseId: (text: string) => string, defaultLimit = DEFAULT_LIMIT): this {
    return this.addOption(
      new Option('--limit <number>', `maximum number of results, at most ${MAX_LIMIT}`)
        .argParser(countUpTo(MAX_LIMIT))
        .default(defaultLimit, String(defaultLimit)),
    ).option('--before <id>', 'only older results: continue after this id', parseId);
  }

  /** Adds `--since` and `--until`. @param from completes the help, such as `at or after this time` */
  acceptsTimes(from = 'at or after this time', defaultSince?: string): this {
    const more = defaultSince === undefined ? '' : ` (default: ${defaultSince})`;
    return this.option('--since <time>', `${from}: ${TIME_FORMATS}${more}`, parseTime).option(
      '--until <time>',
      'before this time, in the same formats',
      parseTime,
    );
  }

  /** Adds the options of `itemSearch`. @param items such as `posts` */
  acceptsItems(items: string): this {
    return this.option('--user <user_id>', `${items} of this user`, parseUserId)
      .option('--app <client_id>', `${items} of this app`, parseClientId)
      .acceptsTimes(undefined, '24h; with --user, no limit');
  }

  /** Adds `--csv`. */
  acceptsCsv(): this {
    return this.option('--csv', 'print CSV').hook('preAction', (_, own) => {
      const { csv, json } = own.optsWithGlobals<{ csv?: boolean; json?: boolean }>();
      if (csv === true && json === true) own.error('error: use either --json or --csv');
    });
  }

  /**
   * Adds `--reason`, and a sentence about the confirmation to the help.
   * @param cases the subject of the sentence, if the command does not always ask: such as `Removing a scope`
   */
  requiresConfirmation(cases?: string): this {
    const asks = cases === undefined ? 'Asks' : `${cases} asks`;
    this.confirmation = `${asks} for confirmation at a terminal, and requires --yes elsewhere.`;
    return this.acceptsReason();
  }

  runsWith(needs: CliCommand['needs']): this {
    this.needs = needs;
    return this;
  }

  /** Makes `work` the action of the command. It receives a session, the arguments and the options of the command. */
  execute(work: (session: Session, ...parameters: never[]) => Promise<Result | void>): this {
    return this.action((...parameters) =>
      this.start((session) => work(session, ...(parameters as never[]))),
    );
  }

  /** Runs `work` now. For actions that first validate their options, which needs no application. */
  start(work: (session: Session) => Promise<Result | void>): Promise<void> {
    return this.runner(this, work);
  }
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
    note: last && `There are more. To continue, add --before ${last}`,
  };
}

/**
 * The range of `--since` and `--until`: a day by default. Its end is a minute ahead by default, because clocks differ.
 * @throws InvalidRequest if it is empty
 */
export function timeRangeOf({ since, until }: TimeOptions, now: Date, defaultMs = DAY): TimeRange {
  const end = until?.(now);
  const from = since?.(now) ?? addMilliseconds(end ?? now, -defaultMs);
  const to = end ?? addMilliseconds(now, MINUTE);
  if (from >= to)
    throw new InvalidRequest(
      `The time range is empty: --since is ${from.toISOString()} and --until is ${to.toISOString()}.`,
    );
  return { from, to };
}

export interface ItemOptions extends TimeOptions, PagingOptions {
  user?: string;
  app?: string;
}

/** The search of a list of posts or comments. @throws NotFound if the user or the app does not exist */
export async function itemSearch(
  session: Session,
  { user: userId, app: clientId, limit, before, ...times }: ItemOptions,
): Promise<{ search: ItemSearch; paging: PagingOptions }> {
  if (userId !== undefined) await session.get('UsersService').get(userId);
  if (clientId !== undefined) await session.get('AppsService').get(clientId);
  const now = session.get('Clock').now();
  const range = timeRangeOf(times, now, userId === undefined ? DAY : now.getTime());
  return { search: { range, userId, clientId }, paging: { limit, before } };
}

/** The result of a command that changes one object: what to print if it changed, and if it already was so. */
export function changeResult(
  changed: boolean,
  json: object,
  [done, already]: readonly [string, string],
): Result {
  return { json, text: changed ? done : already, note: changed ? undefined : 'No change.' };
}

export function examples(...lines: string[]): string {
  return `Examples:\n${lines.map((line) => `  ${PROGRAM} ${line}\n`).join('')}`;
}
