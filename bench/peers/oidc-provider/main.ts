import { createPool } from 'mysql2/promise';
import { peerSettings } from '../settings.js';
import { accountsIn } from './accounts.js';
import { MysqlAdapter } from './mysql-adapter.js';
import { RateLimitAndAudit } from '../rate-limit-and-audit.js';
import { observe } from './observe.js';
import { createProvider } from './provider.js';

const { port, databaseUrl, poolSize } = peerSettings();
const pool = createPool({ uri: databaseUrl, connectionLimit: poolSize, timezone: 'Z' });
const provider = createProvider({
  issuer: `http://127.0.0.1:${port}`,
  adapter: (model) => new MysqlAdapter(pool, model),
  findAccount: accountsIn(pool),
});

provider.use(observe(new RateLimitAndAudit(pool)));
provider.listen(port, '127.0.0.1');
