import { Post } from '../../../src/modules/posts/post.entity.js';
import { User } from '../../../src/modules/users/user.entity.js';
import { concurrently, rounds, ROUNDS, ROUNDS_MS, useCluster } from '../../support/cluster.js';
import { onEachEngine } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { useTestApp } from '../../support/test-app.js';

const AT_ONCE = 6;

onEachEngine('The same deletion at once in two processes', (database) => {
  const operator = useTestApp(database);
  const cluster = useCluster(database);
  beforeAll(() => {
    operator().clock.set(new Date().toISOString());
  });

  async function deleteAtOnce({ token }: Member, path: string): Promise<number[]> {
    const answers = await concurrently(AT_ONCE, () =>
      cluster().fetch(`/dev/v1${path}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${token}` },
      }),
    );
    return answers.map(({ status }) => status).toSorted();
  }
  const onceOnly = [200, ...Array.from({ length: AT_ONCE - 1 }, () => 404)];

  it(
    `C116 of a post is done once, and the author has one post less, in ${ROUNDS} rounds`,
    () =>
      rounds(async () => {
        const member = await Member.join(operator());
        const [{ id }] = [await member.publish(), await member.publish()];
        expect(await deleteAtOnce(member, `/posts/${id}`)).toEqual(onceOnly);
        const { manager } = operator().dataSource;
        const { postCount } = await manager.findOneByOrFail(User, { id: member.user.id });
        expect(postCount).toBe(1);
      }),
    ROUNDS_MS,
  );

  it(
    `C116 of a comment is done once, and its post has one comment less, in ${ROUNDS} rounds`,
    () =>
      rounds(async () => {
        const member = await Member.join(operator());
        const { id: postId } = await member.publish();
        const [{ id }] = [await member.comment(postId), await member.comment(postId)];
        expect(await deleteAtOnce(member, `/comments/${id}`)).toEqual(onceOnly);
        const { manager } = operator().dataSource;
        const { commentCount } = await manager.findOneByOrFail(Post, { id: postId });
        expect(commentCount).toBe(1);
      }),
    ROUNDS_MS,
  );
});
