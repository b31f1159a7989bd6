import { connect, isIP, type Socket } from 'node:net';
import type { DatabaseServer } from '../../config/database-url.js';
import { setPeerName } from './private-members.js';

/** TCP keep-alive: delay before the first probe of an idle connection. */
const KEEP_ALIVE_MS = 10_000;

/** The options of one connection, which mysql2 passes to its `stream` function. */
export interface StreamOptions {
  config: object;
}

/**
 * Connects to a server. Names the server in the options of the connection, where the driver looks for the name that a certificate
 * must have.
 */
export function openSocket({ host, port }: DatabaseServer, { config }: StreamOptions): Socket {
  Object.assign(config, { host, port });
  const keepAlive = { keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS };
  const socket = connect({ host, port, noDelay: true, ...keepAlive });
  if (isIP(host) !== 0) setPeerName(socket, host);
  return socket;
}
