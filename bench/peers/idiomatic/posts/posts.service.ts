import { Injectable, NotFoundException, UnauthorizedException } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { DataSource, IsNull, Repository, type EntityManager } from 'typeorm';
import { newId } from '../../../../src/platform/ids.js';
import type { Caller } from '../auth/caller.js';
import { ApiCall } from '../calls/api-call.entity.js';
import { PUBLISH_ROUTE } from '../calls/call-log.middleware.js';
import type { PageQuery } from '../paging/page.query.js';
import { MonthNotOpen, QuotaService } from '../quota/quota.service.js';
import { permalinkOf } from '../settings.js';
import { User } from '../users/user.entity.js';
import type { CreatePostDto } from './dto/create-post.dto.js';
import type { CreatedPost } from './dto/post.dto.js';
import { Post } from './post.entity.js';

export interface PublishingRequest {
  requestId: string;
  receivedAt: Date;
}

@Injectable()
export class PostsService {
  constructor(
    @InjectRepository(Post) private readonly posts: Repository<Post>,
    private readonly dataSource: DataSource,
    private readonly quota: QuotaService,
  ) {}

  /** A page, newest first, and the total. */
  findAll(userId: string, { page, limit }: PageQuery): Promise<[Post[], number]> {
    // No `select` here: with it, TypeORM would count the distinct values of the selected columns, and omit rows with a null in one.
    return this.posts.findAndCount({
      where: { userId },
      // Ids sort by time and are the last column of the index of a user's posts.
      order: { id: 'DESC' },
      take: limit,
      skip: (page - 1) * limit,
    });
  }

  /** @throws NotFoundException if the user has no such post */
  async findOne(userId: string, id: string): Promise<Post> {
    const post = await this.posts.findOne({
      select: {
        id: true,
        content: true,
        tags: true,
        reachKm: true,
        visibility: true,
        createdAt: true,
      },
      where: { id, userId },
    });
    if (!post) throw new NotFoundException();
    return post;
  }

  /** @throws NotFoundException if the user has no such post */
  async assertExists(userId: string, id: string): Promise<void> {
    if (!(await this.posts.existsBy({ id, userId }))) throw new NotFoundException();
  }

  /** Publishes a post. @throws HttpException with 429 if the app has reached its monthly limit */
  async create(
    caller: Caller,
    dto: CreatePostDto,
    request: PublishingRequest,
  ): Promise<CreatedPost> {
    const sent = sentOf(dto);
    const createdAt = new Date();
    const id = newId('post', createdAt);
    const post = { ...BLANK, ...defaultLocation(caller.user, sent), ...sent, id, createdAt };
    const publish = (manager: EntityManager) => this.publish(manager, caller, post, request);
    try {
      await this.dataSource.transaction(publish);
    } catch (error) {
      if (!(error instanceof MonthNotOpen)) throw error;
      // Outside of the transaction: two transactions that insert the same month would deadlock on gap locks.
      await this.quota.open(caller.app, createdAt);
      await this.dataSource.transaction(publish);
    }
    return { id, ...sent, permalink: permalinkOf(id), createdAt };
  }

  /** Soft-deletes a post. @throws NotFoundException if the user has no such post */
  async remove(userId: string, id: string): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      const { affected } = await manager.softDelete(Post, { id, userId, deletedAt: IsNull() });
      if (affected !== 1) throw new NotFoundException();
      await manager.decrement(User, { id: userId }, 'postCount', 1);
    });
  }

  private async publish(
    manager: EntityManager,
    { user, app }: Caller,
    post: Partial<Post> & { createdAt: Date },
    { requestId, receivedAt }: PublishingRequest,
  ): Promise<void> {
    const { createdAt: at } = post;
    const owner = { userId: user.id, clientId: app.clientId };
    // Unlike this, `manager.insert` would read `deletedAt` back from the database.
    await manager
      .createQueryBuilder()
      .insert()
      .into(Post)
      .values({ ...post, ...owner })
      .updateEntity(false)
      .execute();
    const author = { id: user.id, status: 'active' as const };
    const { affected } = await manager.increment(User, author, 'postCount', 1);
    if (affected !== 1) throw new UnauthorizedException('The user was blocked.');
    await manager.insert(ApiCall, {
      ...owner,
      at,
      id: newId('call', at),
      route: PUBLISH_ROUTE,
      status: 201,
      durationMs: Date.now() - receivedAt.getTime(),
      requestId,
      countsAgainstQuota: true,
    });
    await this.quota.spend(manager, app, at);
  }
}

type Sent = Partial<Pick<Post, keyof CreatePostDto>>;

const BLANK = {
  type: 'general',
  images: [],
  tags: [],
  visibility: 'public',
  likeCount: 0,
  commentCount: 0,
};

/** The fields that were sent; null counts as absent. */
function sentOf(dto: CreatePostDto): Sent {
  return Object.fromEntries(
    Object.entries(dto).filter(([, value]) => value !== null && value !== undefined),
  );
}

/** The location of a post without one: that of its author. */
function defaultLocation({ latitude, longitude, neighborhood }: User, sent: Sent): Partial<Post> {
  return sent.latitude === undefined ? { latitude, longitude, neighborhood } : {};
}
