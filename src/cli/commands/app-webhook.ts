import { Argument, Option } from 'commander';
import type { WebhookEndpoint, WebhookEvent } from '../../modules/events/event.entities.js';
import { HOUR } from '../../platform/clock.js';
import { InvalidRequest } from '../../platform/errors.js';
import { type CliCommand, EXAMPLE_APP } from '../command.js';
import { countUpTo, parseDuration } from '../option-values.js';
import type { Result, Session } from '../session.js';
import { formatNumber, keyValues, membersOf } from '../tables.js';

const SECRET_SHOWN =
  'The app verifies events with this secret. Send it to the partner as you send client secrets.';
const MEMBERS =
  'client_id, url, status, disabled_by, failing_since, former_secret_until, created_at, disabled_at';
const EVENT_MEMBERS = 'id, type, outcome, attempts, last_result, created_at, due_at';
const OUTCOMES = ['waiting', 'delivered', 'failed', 'withdrawn'] as const;
const EXAMPLE_EVENT = 'msg_01kahq5f3veqdr8bn3tdmx3q0a';
const SET = `app webhook set ${EXAMPLE_APP} https://garden.example/events`;

const statusOf = ({ disabledAt }: WebhookEndpoint): string => (disabledAt ? 'disabled' : 'enabled');
const outcomeOf = ({ outcome }: WebhookEvent): string => outcome ?? 'waiting';

function endpointResult(
  session: Session,
  endpoint: WebhookEndpoint,
  secret: string | null = null,
): { json: object } & Result {
  const { clientId, url, disabledBy, failingSince, formerUntil, createdAt } = endpoint;
  const status = statusOf(endpoint);
  return {
    json: {
      ...membersOf(MEMBERS, endpoint, { status, formerSecretUntil: formerUntil }),
      secret,
    },
    text: keyValues({
      client_id: clientId,
      url,
      status: disabledBy === null ? status : `${status} (${disabledBy})`,
      failing_since: session.time(failingSince),
      former_secret_until: session.time(formerUntil),
      created_at: session.time(createdAt),
      ...(secret !== null && { secret }),
    }),
    note: secret === null ? undefined : SECRET_SHOWN,
  };
}

function switchResult(session: Session, endpoint: WebhookEndpoint, changed: boolean): Result {
  const { json } = endpointResult(session, endpoint);
  const text = changed ? `The endpoint is now ${statusOf(endpoint)}.` : 'No change.';
  return { json: { ...json, changed }, text };
}

/** `app webhook …`: where an app receives events, and what was delivered. */
export function addAppWebhookCommands(app: CliCommand): void {
  const webhook = app
    .command('webhook')
    .summary('Set, test and repair the endpoint for events.')
    .description('Manage where an app receives events, and their deliveries.')
    .examples(
      SET,
      `app webhook test ${EXAMPLE_APP}`,
      `app webhook deliveries ${EXAMPLE_APP} --outcome failed`,
    );

  webhook
    .command('set')
    .summary('Set the URL of the endpoint.')
    .description(
      'Set the URL to which the events of an app are sent, and enable the endpoint. The URL must begin with https:// and lead to public addresses. For a new endpoint, prints the secret with which the app verifies events. All processes send events after five seconds at the latest.',
    )
    .argument('<client_id>')
    .argument('<url>')
    .acceptsReason()
    .printsJson(`{${MEMBERS}, secret}`)
    .examples(SET)
    .execute(async (session, clientId: string, url: string) => {
      await session.get('AppsService').get(clientId);
      await session
        .get('WebhookEndpoints')
        .set(clientId, url, session.change, (endpoint, secret) =>
          session.show(endpointResult(session, endpoint, secret)),
        );
    });

  webhook
    .command('show')
    .summary('Show the endpoint and its secret.')
    .description('Show the endpoint of an app. --secret shows the secret, too.')
    .argument('<client_id>')
    .option('--secret', 'show the secret with which the app verifies events')
    .printsJson(`{${MEMBERS}, secret}`)
    .examples(`app webhook show ${EXAMPLE_APP}`)
    .execute(async (session, clientId: string, { secret = false }: { secret?: boolean }) => {
      const endpoints = session.get('WebhookEndpoints');
      const endpoint = await endpoints.get(clientId);
      return endpointResult(session, endpoint, secret ? endpoints.secretOf(endpoint) : undefined);
    });

  webhook
    .command('rotate-secret')
    .summary('Create a new secret.')
    .description(
      'Create a new secret and print it. For the --grace period, each event is signed with both secrets.',
    )
    .argument('<client_id>')
    .addOption(
      new Option(
        '--grace <time>',
        'how long events are signed with the former secret, too, such as 24h or 7d; 0 for not at all',
      )
        .argParser(parseDuration)
        .default(24 * HOUR, '24h'),
    )
    .acceptsReason()
    .printsJson(`{${MEMBERS}, secret}`)
    .examples(`app webhook rotate-secret ${EXAMPLE_APP} --reason "Leaked" --grace 0`)
    .execute(async (session, clientId: string, { grace }: { grace: number }) => {
      await session
        .get('WebhookEndpoints')
        .rotateSecret(clientId, grace, session.change, (endpoint, secret) =>
          session.show(endpointResult(session, endpoint, secret)),
        );
    });

  webhook
    .command('disable')
    .summary('Disable the endpoint.')
    .description(
      'Disable the endpoint of an app. Events are neither stored nor sent until it is enabled.',
    )
    .argument('<client_id>')
    .requiresConfirmation()
    .printsJson(`{${MEMBERS}, secret, changed}`)
    .examples(`app webhook disable ${EXAMPLE_APP} --reason "Overloaded"`)
    .execute(async (session, clientId: string) => {
      const endpoints = session.get('WebhookEndpoints');
      const { disabledAt } = await endpoints.get(clientId);
      if (!disabledAt) await session.confirm(`Send no more events to ${clientId}?`);
      const changed = await endpoints.switch(clientId, false, session.change);
      return switchResult(session, await endpoints.get(clientId), changed);
    });

  webhook
    .command('enable')
    .summary('Enable the endpoint.')
    .description('Enable the endpoint of an app. Events that wait are sent again, too.')
    .argument('<client_id>')
    .acceptsReason()
    .printsJson(`{${MEMBERS}, secret, changed}`)
    .examples(`app webhook enable ${EXAMPLE_APP}`)
    .execute(async (session, clientId: string) => {
      const endpoints = session.get('WebhookEndpoints');
      const changed = await endpoints.switch(clientId, true, session.change);
      return switchResult(session, await endpoints.get(clientId), changed);
    });

  webhook
    .command('test')
    .summary('Send a test event.')
    .description(
      'Send an event of the type webhook.test. "app webhook deliveries" shows the result after a few seconds.',
    )
    .argument('<client_id>')
    .printsJson('{client_id, id}')
    .examples(`app webhook test ${EXAMPLE_APP}`)
    .execute(async (session, clientId: string) => {
      const id = await session.get('WebhookEndpoints').test(clientId);
      return { json: { client_id: clientId, id }, text: id };
    });

  webhook
    .command('deliveries')
    .summary('List events and their deliveries.')
    .description(
      'List the events of an app, newest first. RESULT is that of the last attempt: a status, or why there was none. After refused_address, the name of the endpoint leads to an address that is not public: ask the partner to change it. Events are kept for 30 days.',
    )
    .argument('<client_id>')
    .addOption(new Option('--outcome <outcome>', 'only events with this outcome').choices(OUTCOMES))
    .option('--limit <number>', 'maximum number of events', countUpTo(1000), 20)
    .printsJson(`[{${EVENT_MEMBERS}}]`)
    .examples(`app webhook deliveries ${EXAMPLE_APP} --outcome failed --json`)
    .execute(
      async (
        session,
        clientId: string,
        { outcome, limit }: { outcome?: (typeof OUTCOMES)[number]; limit: number },
      ) => {
        const wanted = outcome === 'waiting' ? null : outcome;
        const events = await session.get('WebhookEndpoints').deliveries(clientId, limit, wanted);
        return {
          json: events.map((event) =>
            membersOf(EVENT_MEMBERS, event, { outcome: outcomeOf(event) }),
          ),
          text: session.list(
            ['ID', 'TYPE', 'OUTCOME', 'ATTEMPTS', 'RESULT', 'CREATED', 'NEXT_ATTEMPT'],
            events.map((event) => [
              event.id,
              event.type,
              outcomeOf(event),
              String(event.attempts),
              event.lastResult ?? '-',
              session.time(event.createdAt),
              session.time(event.dueAt),
            ]),
            'There are no events.',
          ),
        };
      },
    );

  webhook
    .command('redeliver')
    .summary('Send events again.')
    .description(
      'Send events again that were delivered or have failed: those with the given ids, or all that have failed with --failed. The app sees the same ids.',
    )
    .argument('<client_id>')
    .addArgument(new Argument('[ids...]', 'ids of events, from "app webhook deliveries"'))
    .option('--failed', 'all events whose deliveries have failed')
    .acceptsReason()
    .printsJson('{client_id, events}')
    .examples(
      `app webhook redeliver ${EXAMPLE_APP} --failed`,
      `app webhook redeliver ${EXAMPLE_APP} ${EXAMPLE_EVENT}`,
    )
    .execute(
      async (
        session,
        clientId: string,
        ids: string[],
        { failed = false }: { failed?: boolean },
      ) => {
        if (failed === ids.length > 0)
          throw new InvalidRequest('Give either the ids of events or --failed.');
        const count = await session
          .get('WebhookEndpoints')
          .redeliver(clientId, failed ? 'failed' : ids, session.change);
        return {
          json: { client_id: clientId, events: count },
          text: `Sending ${formatNumber(count, 'event')} again.`,
        };
      },
    );
}
