import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppConfig } from '../config/app-config.js';
import { Room, tooMany, type Waiter } from './room.js';

declare global {
  namespace Express {
    interface Request {
      /** Of a request that was let in. */
      place?: Place;
    }
  }
}

/**
 * Lets in as many requests as can be worked on at once. As many more wait for their turn, so that there is always a next one.
 * What comes beyond these waits outside until no more come: so a burst is worked off. When that takes too long it is a storm, in
 * which nobody comes in from outside, so that those who are let in are answered soon. Who waits outside is refused after a few
 * seconds: sooner, callers who come back at once would keep the service busy with refusals.
 */
@Injectable()
export class Admission {
  private readonly room: Room;

  constructor({ database }: AppConfig) {
    const { poolSize, queueLimit, timeoutMs } = database;
    this.room = new Room(poolSize, queueLimit, timeoutMs);
  }

  /** How many requests wait for others to be answered. */
  get waiting(): number {
    return this.room.waiting;
  }

  /** @throws ServiceUnavailable at once when too many wait, or when it has waited in vain */
  admit(request: Request, response: Response): true | Promise<true> {
    const place = new Place(this.room);
    request.place = place;
    response.once('close', () => place.abandon(response.headersSent));
    return this.room.isFree ? place.take() : place.wait();
  }
}

/** The place of one request among those that are worked on. While its body is on the way, another may have it. */
export class Place implements Waiter {
  onTurn?: () => void;
  /** Called when its caller leaves before that, or it takes too long. */
  private onLeave?: () => void;
  private isWorking = false;
  private isArriving = false;
  private hasLeft = false;
  private reservedBytes = 0;

  constructor(private readonly room: Room) {}

  take(): true {
    this.isWorking = true;
    this.room.take();
    return true;
  }

  /** @throws ServiceUnavailable */
  wait(): Promise<true> {
    return this.untilTurn(this.room.enqueue(this));
  }

  /**
   * Gives the place away until the body is there.
   * @param bytes of memory that the body may take, where that is much
   * @throws ServiceUnavailable when all that are on their way would take too much
   */
  awaitBody(bytes: number): void {
    this.room.reserve(bytes);
    this.reservedBytes = bytes;
    this.isArriving = true;
    this.free();
  }

  /** Has one again, sooner than others who came later. @throws ServiceUnavailable when even that takes too long */
  async bodyArrived(): Promise<void> {
    this.isArriving = false;
    this.releaseBody();
    if (this.hasLeft) return;
    if (this.room.isFree) this.take();
    else await this.untilTurn(this.room.enqueueAgain(this));
  }

  /** The request is answered. */
  leave(): void {
    this.hasLeft = true;
    this.releaseBody();
    this.free();
  }

  /**
   * The connection has ended: who waits gives it up. What was begun goes on, unless that was to read the body or to send the
   * answer.
   */
  abandon(isAnswering: boolean): void {
    this.onLeave?.();
    if (isAnswering || this.isArriving) this.leave();
  }

  private untilTurn(longestMs: number): Promise<true> {
    const { room } = this;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.onLeave?.(), longestMs);
      this.onTurn = () => {
        clearTimeout(timer);
        this.onLeave = undefined;
        resolve(this.take());
      };
      this.onLeave = () => {
        clearTimeout(timer);
        room.dequeue(this);
        reject(tooMany());
      };
    });
  }

  private releaseBody(): void {
    this.room.release(this.reservedBytes);
    this.reservedBytes = 0;
  }

  private free(): void {
    if (!this.isWorking) return;
    this.isWorking = false;
    this.room.free();
  }
}
