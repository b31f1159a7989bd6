import { randomUUID } from 'node:crypto';
import { CommentsService } from '../../src/modules/comments/comments.service.js';
import { PostsService } from '../../src/modules/posts/posts.service.js';
import type { User } from '../../src/modules/users/user.entity.js';
import { granted } from './granted.js';
import { json, type TokenBody } from './json.js';
import type { TestApp, TestClient } from './test-app.js';
import { authorizeLink, Visitor } from './visitor.js';
import { writeNotes } from './write-notes.js';

/** The budgets that leave rows for a phone, wide enough for any test. */
export const COUNTED_SIGN_INS = { OTP_PHONE_HOURLY: '100', OTP_PHONE_FAILURES: '100' };

/** What Ana's rows say that no other row does. */
export const WORDS = {
  name: 'Ana Quetzal',
  neighborhood: 'Quetzal Hill',
  post: 'quetzal feathers to give away',
  deletedPost: 'a quetzal mistake',
  comment: 'the quetzal is mine',
};

export interface TwoMembers {
  ana: User;
  ben: User;
  client: TestClient;
  anas: TokenBody;
  bens: TokenBody;
  anasPost: string;
  bensPost: string;
}

/** Ana and Ben, who signed in, published, liked and commented on each other's posts: a row of Ana's in every table that has any. */
export async function twoMembers(app: TestApp, phone: string): Promise<TwoMembers> {
  const { name, neighborhood } = WORDS;
  const ana = await app.addUser({ phone, name, neighborhood });
  const ben = await app.addUser();
  const client = await app.addClient();
  await mistypeCode(app, client, ana);
  const anas = await granted(app, client, ana);
  const bens = await granted(app, client, ben);
  const anasPost = await publish(app, anas, WORDS.post);
  const deleted = await publish(app, anas, WORDS.deletedPost);
  await app.call(anas.access_token, 'DELETE', `/posts/${deleted}`);
  const bensPost = await publish(app, bens, 'Ladder to lend');
  await app.service(PostsService).like(ana.id, bensPost);
  await app.service(PostsService).like(ben.id, bensPost);
  await app.service(PostsService).like(ben.id, anasPost);
  await comment(app, ana, anasPost, ben, 'May I have one?');
  await comment(app, ben, bensPost, ana, WORDS.comment);
  await comment(app, ben, bensPost, ana, WORDS.comment);
  const gone = await comment(app, ben, bensPost, ana, WORDS.comment);
  await app.service(CommentsService).delete(ana.id, gone);
  await comment(app, ben, bensPost, ben, 'It is 3 m long.');
  // A sign-in that waits for consent, beside those that came to an end.
  await new Visitor(app).signIn(authorizeLink(client), ana);
  await mistypeCode(app, client, ana);
  // What is written beside requests is there, too.
  await writeNotes(app);
  return { ana, ben, client, anas, bens, anasPost, bensPost };
}

async function publish(
  app: TestApp,
  { access_token }: TokenBody,
  content: string,
): Promise<string> {
  const answer = await app.fetch('/dev/v1/posts', {
    method: 'POST',
    headers: {
      authorization: `Bearer ${access_token}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify({ content }),
  });
  return (await json<{ id: string }>(answer)).id;
}

async function comment(
  app: TestApp,
  owner: User,
  postId: string,
  author: User,
  text: string,
): Promise<string> {
  const draft = { text, parentId: null, authorId: author.id };
  return (await app.service(CommentsService).add(owner.id, postId, draft)).id;
}

async function mistypeCode(app: TestApp, client: TestClient, user: User): Promise<void> {
  const visitor = new Visitor(app);
  const earlier = app.sms.count(user.phone);
  const fields = { phone: user.phone };
  const phonePage = await visitor.open(authorizeLink(client));
  const page = await visitor.submit(phonePage, '/oauth/authorize/sign-in', fields);
  const code = await app.sms.password(user.phone, earlier);
  const wrong = code === '000000' ? '000001' : '000000';
  await visitor.submit(page, '/oauth/authorize/verify', { code: wrong });
}
