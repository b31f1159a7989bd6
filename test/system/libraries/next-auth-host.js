import { createRequire } from 'node:module';
import { resolve } from 'node:path';

// Calls the recipe as Next.js calls `pages/api/auth/[...nextauth].js`. Runs in the folder of the recipes.
const { default: express } = await import(
  createRequire(resolve('package.json')).resolve('express')
);
const { default: nextAuth } = await import(resolve('next-auth.js'));

const app = express().use(express.urlencoded());
app.all('/api/auth/*nextauth', (req, res) => {
  const query = { ...req.query, nextauth: req.params.nextauth };
  const cookies = Object.fromEntries(
    (req.headers.cookie ?? '').split('; ').map((pair) => {
      const [name = '', value = ''] = pair.split(/=(.*)/s);
      return [name, decodeURIComponent(value)];
    }),
  );
  Object.defineProperties(req, { query: { value: query }, cookies: { value: cookies } });
  return nextAuth(req, res);
});
app.listen(Number(process.env.PORT));
