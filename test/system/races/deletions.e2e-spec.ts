import { Post } from '../../../src/modules/posts/post.entities.js';
import { User } from '../../../src/modules/users/user.entity.js';
import { concurrently, race, useCluster } from '../../support/cluster.js';
import { onEachEngine } from '../../support/database.js';
import { Member } from '../../support/member.js';
import { useTestApp } from '../../support/test-app.js';

const CONCURRENT = 6;
const ONE_SUCCESS = [200, ...Array.from({ length: CONCURRENT - 1 }, () => 404)];

onEachEngine('Concurrent deletions in two processes', (database) => {
  const setupApp = useTestApp(database);
  const cluster = useCluster(database);
  beforeAll(() => setupApp().clock.set(new Date().toISOString()));

  async function deleteConcurrently({ token }: Member, path: string): Promise<number[]> {
    const responses = await concurrently(CONCURRENT, () => cluster().call(token, 'DELETE', path));
    return responses.map(({ status }) => status).toSorted();
  }

  race("C116 deletes a post once and decrements the author's post count once", async () => {
    const member = await Member.join(setupApp());
    // The second post remains.
    const [{ id }] = [await member.publish(), await member.publish()];
    expect(await deleteConcurrently(member, `/posts/${id}`)).toEqual(ONE_SUCCESS);
    const { manager } = setupApp().dataSource;
    const { postCount } = await manager.findOneByOrFail(User, { id: member.user.id });
    expect(postCount).toBe(1);
  });

  race("C116 deletes a comment once and decrements its post's comment count once", async () => {
    const member = await Member.join(setupApp());
    const { id: postId } = await member.publish();
    // The second comment remains.
    const [{ id }] = [await member.comment(postId), await member.comment(postId)];
    expect(await deleteConcurrently(member, `/comments/${id}`)).toEqual(ONE_SUCCESS);
    const { manager } = setupApp().dataSource;
    const { commentCount } = await manager.findOneByOrFail(Post, { id: postId });
    expect(commentCount).toBe(1);
  });
});
