import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppConfig } from '../../config/app-config.js';
import { ServiceUnavailable } from '../../errors.js';
import { isAlwaysServed } from './always-served.decorator.js';

/** For each connection to the database: more would only wait there, and fewer would share fewer statements. */
const WORKING_PER_CONNECTION = 5;
/** In a storm, whose statements are shared by enough even so: fewer are answered sooner. */
const WORKING_IN_STORM = 2;
/** Between these, at random: who came together and is refused does not come back together. */
const LEAST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 3000;
/** When for so long nobody had to go outside, a burst is over; when for so long somebody always was there, it is a storm. */
const CALM_MS = 100;
const STORM_MS = 500;
/** When for so long they were not too many, a storm is over. */
const STORM_OVER_MS = 1000;
/** Of all bodies that are on their way together. */
const MOST_ARRIVING_BYTES = 67_108_864;
const MOST_RETRY_SECONDS = 3;

/** Who waits for a place. */
export interface Waiter {
  /** Called once, when there is one. */
  onTurn?: () => void;
}

/** What the requests of a process share. */
export class Room {
  private working = 0;
  private arrivingBytes = 0;
  /**
   * Those whose body is there, those who are next, and those who came when there were enough of these; the first of each came
   * first.
   */
  private readonly returning = new Set<Waiter>();
  private readonly next = new Set<Waiter>();
  private readonly beyond = new Set<Waiter>();
  private isCalm = true;
  private isCrowded = false;
  private isStorm = false;
  private readonly calm = setTimeout(() => {
    this.isCalm = true;
    this.letIn();
  }, CALM_MS).unref();
  private readonly patience = setTimeout(() => {
    if (this.beyond.size === 0) return;
    this.isStorm = this.isCrowded;
    this.patience.refresh();
  }, STORM_MS).unref();
  private readonly storm = setTimeout(() => {
    this.isCrowded = false;
    this.isStorm = false;
    this.letIn();
  }, STORM_OVER_MS).unref();

  constructor(
    private readonly connections: number,
    private readonly mostWaiting: number,
    private readonly longestTurnMs: number,
  ) {}

  get isFree(): boolean {
    return this.working < this.mostWorking;
  }

  get waiting(): number {
    return this.returning.size + this.next.size + this.beyond.size;
  }

  private get mostWorking(): number {
    return this.connections * (this.isStorm ? WORKING_IN_STORM : WORKING_PER_CONNECTION);
  }

  take(): void {
    this.working += 1;
  }

  free(): void {
    this.working -= 1;
    this.letIn();
  }

  /** Answers how long it may wait, in milliseconds. @throws ServiceUnavailable */
  enqueue(place: Waiter): number {
    if (this.waiting >= this.mostWaiting) throw tooMany();
    if (this.next.size < this.mostWorking) {
      this.next.add(place);
      return this.longestTurnMs;
    }
    if (this.beyond.size === 0) this.patience.refresh();
    this.beyond.add(place);
    this.isCalm = false;
    this.calm.refresh();
    // Not whether they are more than a storm lets in: it would go on by itself.
    if (this.working + this.waiting > 2 * WORKING_PER_CONNECTION * this.connections) {
      this.isCrowded = true;
      this.storm.refresh();
    }
    return between(LEAST_WAIT_MS, LONGEST_WAIT_MS);
  }

  /** The same for who was let in before: others who came later do not go first. @throws ServiceUnavailable */
  enqueueAgain(place: Waiter): number {
    if (this.returning.size >= this.mostWaiting) throw tooMany();
    this.returning.add(place);
    return this.longestTurnMs;
  }

  dequeue(place: Waiter): void {
    this.returning.delete(place);
    this.next.delete(place);
    this.beyond.delete(place);
  }

  reserve(bytes: number): void {
    if (this.arrivingBytes + bytes > MOST_ARRIVING_BYTES) throw tooMany();
    this.arrivingBytes += bytes;
  }

  release(bytes: number): void {
    this.arrivingBytes -= bytes;
  }

  private letIn(): void {
    letFirstIn(this.returning, () => this.isFree);
    letFirstIn(this.next, () => this.isFree);
    if (this.isCalm && !this.isStorm)
      letFirstIn(this.beyond, () => this.working < this.mostWorking / 2);
  }
}

function letFirstIn(places: Set<Waiter>, isFree: () => boolean): void {
  for (const place of places) {
    if (!isFree()) return;
    places.delete(place);
    place.onTurn?.();
  }
}

/** Says when to come back: who was refused together is not told to come back together. */
export function tooMany(): ServiceUnavailable {
  return new ServiceUnavailable(Math.ceil(between(0, MOST_RETRY_SECONDS)) || 1);
}

function between(least: number, most: number): number {
  return least + Math.random() * (most - least);
}

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

/** Refuses what is too much, each route in its own shape. Whether the service is alive and ready may always be asked. */
@Injectable()
export class AdmissionGuard implements CanActivate {
  constructor(private readonly admission: Admission) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    if (isAlwaysServed(context)) return true;
    const http = context.switchToHttp();
    return this.admission.admit(http.getRequest<Request>(), http.getResponse<Response>());
  }
}
