import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';

export interface RecordedRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** An HTTP server on loopback that records requests and responds with 200 and an empty body. */
export class RecordingServer {
  readonly requests: RecordedRequest[] = [];

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  /** @param options.responds false for a server that accepts connections, but never responds */
  static async open({ responds = true } = {}): Promise<RecordingServer> {
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string')
      throw new Error('The server has no TCP port.');
    const recording = new RecordingServer(server, `http://127.0.0.1:${address.port}`);
    server.on('request', async (request, response) => {
      const { url = '', headers } = request;
      recording.requests.push({ path: url, headers, body: await buffer(request) });
      if (responds) response.end();
    });
    return recording;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}
