import { z } from 'zod';
import { database } from './env/database.env.js';
import { oauth } from './env/oauth.env.js';
import { quota } from './env/quota.env.js';
import { retention } from './env/retention.env.js';
import { server } from './env/server.env.js';
import { signIn } from './env/sign-in.env.js';
import { sms } from './env/sms.env.js';

/**
 * Every environment variable, in the order of `.env.example`, which is generated from here.
 * All are optional; the descriptions are the operator's documentation.
 */
export const envSchema = z.object({
  ...server,
  ...database,
  ...sms,
  ...oauth,
  ...signIn,
  ...quota,
  ...retention,
});

export type Env = z.infer<typeof envSchema>;
