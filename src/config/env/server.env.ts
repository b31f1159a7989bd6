import { z } from 'zod';
import { baseUrl, count, origin, wholeNumber } from './values.js';

/** How the service is reached, and how it talks to its operators. */
export const server = {
  NODE_ENV: z
    .enum(['development', 'test', 'production'])
    .default('development')
    .describe('In production, unsafe settings are refused at start.'),
  PORT: wholeNumber(0, 65_535).default(3000).describe('Port of the service.'),
  HOST: z.string().optional().describe('Address to listen on; all interfaces by default.'),
  PUBLIC_URL: origin
    .optional()
    .describe(
      'Origin and OAuth issuer, as browsers see it; http://localhost:PORT by default. Never taken from a request.',
    ),
  SITE_URL: baseUrl
    .optional()
    .describe(
      'Base URL of permalinks; PUBLIC_URL by default, where the service shows public posts itself.',
    ),
  DOCS_CLIENT_ID: z
    .string()
    .optional()
    .describe(
      'Public app whose redirect is PUBLIC_URL/docs/oauth2-redirect.html, for "Authorize" in the documentation.',
    ),
  TRUST_PROXY: count
    .default(0)
    .describe('Number of reverse proxies in front, whose X-Forwarded-For is believed.'),
  REQUEST_TIMEOUT_MS: wholeNumber(100)
    .default(30_000)
    .describe(
      'Longest time, in milliseconds, for the headers of a request to arrive, and again for its body; then it is answered 408, for headers up to a second later.',
    ),
  SHUTDOWN_DELAY_MS: count
    .optional()
    .describe(
      'How long, in milliseconds, the service goes on serving after SIGTERM while it is not ready; 5000 by default in production, else 0.',
    ),
  METRICS_PORT: z
    .union([z.literal('off'), wholeNumber(0, 65_535)], { error: 'must be a port or off' })
    .default(9464)
    .describe('Port of the metrics for Prometheus, at /metrics; off serves none.'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'log', 'debug', 'verbose'])
    .default('log')
    .describe('Least severe level that is logged. In JSON, log is called info and verbose trace.'),
};
