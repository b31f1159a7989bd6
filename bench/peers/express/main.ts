import { serve } from './api.js';
import { inTransaction } from './database.js';

/** Ignores idempotency keys. */
serve(async (pool, _request, added, statements) => {
  await inTransaction(pool, statements);
  return added;
});
