import { Module } from '@nestjs/common';
import { EventOutbox } from './event-outbox.service.js';

@Module({ providers: [EventOutbox], exports: [EventOutbox] })
export class EventsModule {}
