import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import { buffer } from 'node:stream/consumers';

export interface RecordedRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** An HTTP server on loopback that records requests. */
export class RecordingServer {
  readonly requests: RecordedRequest[] = [];

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  /** @param options.respond sends the response to each request; by default, 200 with an empty body */
  static async open({
    respond = (response) => response.end(),
  }: { respond?: (response: ServerResponse) => void } = {}): Promise<RecordingServer> {
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string')
      throw new Error('The server has no TCP port.');
    const recording = new RecordingServer(server, `http://127.0.0.1:${address.port}`);
    server.on('request', async (request, response) => {
      const { url = '', headers } = request;
      recording.requests.push({ path: url, headers, body: await buffer(request) });
      respond(response);
    });
    return recording;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}
