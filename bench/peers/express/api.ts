import express, { type ErrorRequestHandler } from 'express';
import { z, ZodError } from 'zod';
import { peerSettings } from '../settings.js';
import { authenticate, HttpError } from './authenticate.js';
import { createComment, listComments } from './comments.js';
import { createPool } from './database.js';
import { observe, sendHeaders } from './observe.js';
import { createPost, deletePost, listPosts, readPost } from './posts.js';
import { FIND_PROFILE } from '../statements.js';
import type { Write } from './write.js';

const settings = peerSettings();
const pool = createPool(settings);

const paging = z.object({
  page: z.coerce.number().int().min(1).max(2000).default(1),
  limit: z.coerce.number().int().min(1).max(50).default(20),
});

const api = express.Router();

api.get('/me', authenticate(pool, 'profile.read'), async (request, response) => {
  const [[profile]] = await pool.execute<never[]>(FIND_PROFILE, [request.access.userId]);
  response.json(profile);
});

api.get('/posts', authenticate(pool, 'posts.read'), async (request, response) => {
  const { page, limit } = paging.parse(request.query);
  const listUrl = `${request.protocol}://${request.get('host')}${request.baseUrl}${request.path}`;
  const { link, ...body } = await listPosts(pool, request.access.userId, listUrl, page, limit);
  response.set('Link', link).json(body);
});

api.get('/posts/:id', authenticate(pool, 'posts.read'), async (request, response) => {
  response.json(await readPost(pool, request.access.userId, String(request.params.id)));
});

api.get('/posts/:id/comments', authenticate(pool, 'posts.read'), async (request, response) => {
  const { page, limit } = paging.parse(request.query);
  const postId = String(request.params.id);
  const listUrl = `${request.protocol}://${request.get('host')}${request.baseUrl}${request.path}`;
  const { userId } = request.access;
  const { link, ...body } = await listComments(pool, userId, postId, listUrl, page, limit);
  response.set('Link', link).json(body);
});

api.delete('/posts/:id', authenticate(pool, 'posts.write'), async (request, response) => {
  const id = String(request.params.id);
  await deletePost(pool, request.access.userId, id);
  response.json({ id, deleted: true });
});

const handleError: ErrorRequestHandler = (error: unknown, _request, response, _next) => {
  if (error instanceof HttpError) response.status(error.status).json({ error: error.message });
  else if (error instanceof ZodError)
    response.status(400).json({ error: 'invalid_request', issues: error.issues });
  else {
    process.stderr.write(`${(error as Error).stack}\n`);
    response.status(500).json({ error: 'server_error' });
  }
};

/** Serves the API with Express 5, middleware and handwritten SQL. */
export function serve(write: Write): void {
  const parseJson = express.json({ limit: '64kb' });

  api.post('/posts', authenticate(pool, 'posts.write'), parseJson, async (request, response) => {
    const { post, remaining, secondsLeft } = await createPost(pool, write, request);
    response
      .status(201)
      .location(`${request.baseUrl}/posts/${post.id}`)
      .set('RateLimit', `"posts-month";r=${remaining};t=${secondsLeft}`)
      .json(post);
  });

  api.post(
    '/posts/:id/comments',
    authenticate(pool, 'posts.write'),
    parseJson,
    async (request, response) => {
      response.status(201).json(await createComment(pool, write, request));
    },
  );

  const app = express();
  app.disable('x-powered-by');
  app.use(observe(pool.pool), sendHeaders);
  app.use('/dev/v1', api);
  app.use(handleError);
  app.listen(settings.port, '127.0.0.1');
  process.once('SIGTERM', () => process.exit(0));
}
