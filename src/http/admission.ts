import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ServiceUnavailable } from '../common/errors.js';
import { AppConfig } from '../config/app-config.js';

/** For each connection to the database: more would only wait there, and fewer would not keep it busy. */
const WORKING_PER_CONNECTION = 5;
/** Between these, at random: who came together and is refused does not come back together. */
const LEAST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 1500;
/** When for so long nobody had to wait outside, a burst is over; when for so long, a storm. */
const CALM_MS = 100;
const STORM_OVER_MS = 1000;
/** Of all bodies that are on their way together. */
const MOST_ARRIVING_BYTES = 67_108_864;
const MOST_RETRY_SECONDS = 3;

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
 * which nobody comes in from outside, so that those who are let in are answered soon. Who waits outside is refused after about a
 * second: sooner, callers who come back at once would keep the service busy with refusals.
 */
@Injectable()
export class Admission {
  private readonly room: Room;

  constructor({ database }: AppConfig) {
    const { poolSize, queueLimit, timeoutMs } = database;
    this.room = new Room(WORKING_PER_CONNECTION * poolSize, queueLimit, timeoutMs);
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

/** What the requests of a process share. */
class Room {
  private working = 0;
  private arrivingBytes = 0;
  /** Those who are next, and those who came when there were enough of these; the first of each came first. */
  private readonly next = new Set<Place>();
  private readonly beyond = new Set<Place>();
  private isCalm = true;
  private isStorm = false;
  private lastBeyond = -Infinity;
  private readonly calm = setTimeout(() => {
    this.isCalm = true;
    this.letIn();
  }, CALM_MS).unref();

  constructor(
    private readonly mostWorking: number,
    private readonly mostWaiting: number,
    private readonly longestTurnMs: number,
  ) {}

  get isFree(): boolean {
    return this.working < this.mostWorking;
  }

  get waiting(): number {
    return this.next.size + this.beyond.size;
  }

  take(): void {
    this.working += 1;
  }

  free(): void {
    this.working -= 1;
    this.letIn();
  }

  /** Answers how long it may wait, in milliseconds. @throws ServiceUnavailable */
  enqueue(place: Place): number {
    if (this.waiting >= this.mostWaiting) throw tooMany();
    if (this.next.size < this.mostWorking) {
      this.next.add(place);
      return this.longestTurnMs;
    }
    this.beyond.add(place);
    const now = performance.now();
    if (now - this.lastBeyond > STORM_OVER_MS) this.isStorm = false;
    this.lastBeyond = now;
    this.isCalm = false;
    this.calm.refresh();
    return between(LEAST_WAIT_MS, LONGEST_WAIT_MS);
  }

  refuse(place: Place): ServiceUnavailable {
    this.dequeue(place);
    this.isStorm = true;
    return tooMany();
  }

  dequeue(place: Place): void {
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
    letFirstIn(this.next, () => this.isFree);
    if (this.isCalm && !this.isStorm)
      letFirstIn(this.beyond, () => this.working < this.mostWorking / 2);
  }
}

/** The place of one request among those that are worked on. While its body is on the way, another may have it. */
export class Place {
  /** Called once, when there is a place. */
  onTurn?: () => void;
  /** Called when its caller leaves before that. */
  private onLeave?: () => void;
  private isWorking = false;
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
    const { room } = this;
    const longestMs = room.enqueue(this);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(room.refuse(this)), longestMs);
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

  /**
   * Gives the place away until the body is there.
   * @param bytes of memory that the body may take, where that is much
   * @throws ServiceUnavailable when all that are on their way would take too much
   */
  awaitBody(bytes: number): void {
    this.room.reserve(bytes);
    this.reservedBytes = bytes;
    this.free();
  }

  /** Takes it again: who was let in is not refused for others who came later. */
  bodyArrived(): void {
    this.room.release(this.reservedBytes);
    this.reservedBytes = 0;
    if (!this.hasLeft) this.take();
  }

  /** The request is answered. */
  leave(): void {
    this.hasLeft = true;
    this.free();
  }

  /** The connection has ended: who waits gives it up. What was begun goes on, unless that was to send the answer. */
  abandon(isAnswering: boolean): void {
    this.onLeave?.();
    if (isAnswering) this.leave();
  }

  private free(): void {
    if (!this.isWorking) return;
    this.isWorking = false;
    this.room.free();
  }
}

function letFirstIn(places: Set<Place>, isFree: () => boolean): void {
  for (const place of places) {
    if (!isFree()) return;
    places.delete(place);
    place.onTurn?.();
  }
}

function tooMany(): ServiceUnavailable {
  return new ServiceUnavailable(Math.ceil(between(0, MOST_RETRY_SECONDS)) || 1);
}

function between(least: number, most: number): number {
  return least + Math.random() * (most - least);
}
