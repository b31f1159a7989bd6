import { Injectable } from '@nestjs/common';
import { AuditLog, type Change } from '../../platform/audit/audit-log.repository.js';
import { addMilliseconds, Clock } from '../../platform/clock.js';
import { AppConfig } from '../../platform/config/app-config.js';
import { TransactionRunner } from '../../platform/database/transaction.js';
import { InvalidRequest, NotFound } from '../../platform/errors.js';
import { randomToken } from '../../platform/secrets.js';
import { EventOutbox } from '../events/event-outbox.service.js';
import type { WebhookEndpoint, WebhookEvent } from '../events/event.entities.js';
import { parseEndpointUrl, RefusedAddress } from './webhook-address.js';
import { WebhookSender } from './webhook-sender.js';
import { WebhooksRepository } from './webhooks.repository.js';

/** Without a lease, so that the deliveries of before, which may be to another URL, do not disable the endpoint. */
const ENABLED = { disabledAt: null, disabledBy: null, failingSince: null, leasedUntil: null };

/** The endpoints of apps, for operators. */
@Injectable()
export class WebhookEndpoints {
  constructor(
    private readonly repository: WebhooksRepository,
    private readonly sender: WebhookSender,
    private readonly outbox: EventOutbox,
    private readonly audit: AuditLog,
    private readonly transactions: TransactionRunner,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** @throws NotFound */
  async get(clientId: string): Promise<WebhookEndpoint> {
    const endpoint = await this.repository.find(clientId);
    if (!endpoint)
      throw new NotFound(
        `${clientId} has no endpoint for events. Run "app webhook set ${clientId} URL" to set one.`,
      );
    return endpoint;
  }

  all(): Promise<WebhookEndpoint[]> {
    return this.repository.findAll();
  }

  /**
   * Sets the URL and enables the endpoint. A new endpoint gets a secret.
   * @param show receives the secret of a new endpoint; if it fails, nothing changes
   * @throws InvalidRequest
   */
  async set(
    clientId: string,
    address: string,
    change: Change,
    show: (endpoint: WebhookEndpoint, secret: string | undefined) => Promise<void>,
  ): Promise<void> {
    const url = parseEndpointUrl(address, this.config.production);
    await this.sender.checkAddress(url).catch((error: unknown) => {
      throw new InvalidRequest(addressProblem(url, error));
    });
    const values = { ...ENABLED, url: url.href };
    const created = {
      clientId,
      secretSalt: randomToken(),
      formerSalt: null,
      formerUntil: null,
      createdAt: this.clock.now(),
      failsNext: false,
      ...values,
    };
    await this.transactions.run(async (tx) => {
      await this.repository.insertMissing(tx, created);
      // The rest of an existing endpoint stays, also the secret that another operator creates meanwhile.
      await this.repository.update(tx, { clientId }, values);
      await this.audit.record(tx, 'webhook.set', clientId, change, { host: url.host });
      const endpoint = (await this.repository.find(clientId, tx)) ?? created;
      const isNew = endpoint.secretSalt === created.secretSalt;
      await show(endpoint, isNew ? this.secretOf(endpoint) : undefined);
    });
    this.outbox.forgetListeners();
  }

  /**
   * Creates a new secret. Events are signed with the former one, too, for this time.
   * @throws NotFound; InvalidRequest if somebody else does so at the same time
   */
  async rotateSecret(
    clientId: string,
    graceMs: number,
    change: Change,
    show: (endpoint: WebhookEndpoint, secret: string) => Promise<void>,
  ): Promise<void> {
    const endpoint = await this.get(clientId);
    const secretSalt = randomToken();
    const formerUntil = addMilliseconds(this.clock.now(), graceMs);
    const values = { secretSalt, formerSalt: endpoint.secretSalt, formerUntil };
    await this.transactions.run(async (tx) => {
      if (
        !(await this.repository.update(tx, { clientId, secretSalt: endpoint.secretSalt }, values))
      )
        throw new InvalidRequest(
          `Another operator has just created a new secret for ${clientId}. Run "app webhook show ${clientId} --secret" to see it.`,
        );
      await this.audit.record(tx, 'webhook.secret_rotated', clientId, change);
      await show(Object.assign(endpoint, values), this.sender.secretOf(secretSalt));
    });
  }

  secretOf({ secretSalt }: WebhookEndpoint): string {
    return this.sender.secretOf(secretSalt);
  }

  /**
   * Disables or enables the endpoint. Events of the time in which it is disabled are not stored; those that wait are delivered later.
   * Returns false if nothing changes. @throws NotFound
   */
  async switch(clientId: string, isEnabled: boolean, change: Change): Promise<boolean> {
    const { disabledAt } = await this.get(clientId);
    if ((disabledAt === null) === isEnabled) return false;
    const values = isEnabled
      ? ENABLED
      : { disabledAt: this.clock.now(), disabledBy: 'operator' as const, leasedUntil: null };
    const action = isEnabled ? 'webhook.enabled' : 'webhook.disabled';
    await this.transactions.run(async (tx) => {
      await this.repository.update(tx, { clientId }, values);
      await this.audit.record(tx, action, clientId, change);
    });
    this.outbox.forgetListeners();
    return true;
  }

  /** Adds a `webhook.test` event. @returns its id @throws NotFound; InvalidRequest if the endpoint is disabled */
  async test(clientId: string): Promise<string> {
    const { disabledAt } = await this.get(clientId);
    if (disabledAt)
      throw new InvalidRequest(
        `The endpoint is disabled. Run "app webhook enable ${clientId}" first.`,
      );
    const event = {
      clientId,
      type: 'webhook.test' as const,
      userId: null,
      subjectId: null,
      details: {},
    };
    const [id = ''] = await this.transactions.run((tx) => this.outbox.add(tx, [event]));
    return id;
  }

  /** Newest first. @throws NotFound */
  async deliveries(
    clientId: string,
    limit: number,
    outcome?: WebhookEvent['outcome'],
  ): Promise<WebhookEvent[]> {
    await this.get(clientId);
    return this.repository.findEvents(clientId, limit, outcome);
  }

  /** Delivers events again that were delivered or have failed. @returns how many @throws NotFound */
  async redeliver(
    clientId: string,
    ids: readonly string[] | 'failed',
    change: Change,
  ): Promise<number> {
    await this.get(clientId);
    return this.transactions.run(async (tx) => {
      const count = await this.repository.redeliver(tx, clientId, this.clock.now(), ids);
      if (count > 0)
        await this.audit.record(tx, 'webhook.redelivered', clientId, change, { events: count });
      return count;
    });
  }

  /** Makes the next delivery to a test app fail. Does nothing without an endpoint. */
  async failNext(clientId: string): Promise<void> {
    await this.transactions.run((tx) =>
      this.repository.update(tx, { clientId }, { failsNext: true }),
    );
  }
}

function addressProblem({ hostname }: URL, error: unknown): string {
  return error instanceof RefusedAddress
    ? `${error.message} Events are sent to public addresses only: ask the partner for a name without others.`
    : `${hostname} could not be resolved. Check the name.`;
}
