import { Module } from '@nestjs/common';
import { CommentsModule } from '../comments/comments.module.js';
import { EventsModule } from '../events/events.module.js';
import { WebhookBodies } from './webhook-body.js';
import { WebhookEndpoints } from './webhook-endpoints.service.js';
import { WebhookMetrics } from './webhook-metrics.js';
import { WebhookSender } from './webhook-sender.js';
import { WebhookWorker } from './webhook-worker.service.js';
import { WebhooksRepository } from './webhooks.repository.js';

@Module({
  imports: [EventsModule, CommentsModule],
  providers: [
    WebhooksRepository,
    WebhookSender,
    WebhookBodies,
    WebhookMetrics,
    WebhookEndpoints,
    WebhookWorker,
  ],
  exports: [WebhookEndpoints, WebhookWorker],
})
export class WebhooksModule {}
