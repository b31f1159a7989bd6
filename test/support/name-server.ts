import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';

const TYPES = { 1: 'A', 28: 'AAAA' } as const;
const CLASS_IN = [0, 1];
const TTL_SECONDS = [0, 0, 0, 0];
/** A pointer to the name in the question (RFC 1035 §4.1.4). */
const SAME_NAME = [0xc0, 0x0c];

/** The addresses of a name: IPv4 as text, IPv6 as its 16 bytes. */
export interface Addresses {
  A?: readonly string[];
  AAAA?: readonly (readonly number[])[];
}

/** A name server on loopback. Names without an entry do not exist; it does not respond to those that are `silent`. */
export class NameServer {
  readonly names = new Map<string, Addresses | 'silent'>();

  private constructor(private readonly socket: Socket) {}

  static async start(): Promise<NameServer> {
    const socket = createSocket('udp4');
    const server = new NameServer(socket);
    socket.on('message', (query, sender) => server.respond(query, sender));
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return server;
  }

  get address(): string {
    return `127.0.0.1:${this.socket.address().port}`;
  }

  async stop(): Promise<void> {
    this.socket.close();
    await once(this.socket, 'close');
  }

  private respond(query: Buffer, { port, address }: RemoteInfo): void {
    const labels: string[] = [];
    let end = 12;
    for (let length = query[end]; length; length = query[end]) {
      labels.push(query.toString('latin1', end + 1, end + 1 + length));
      end += 1 + length;
    }
    const type = query.readUInt16BE(end + 1);
    const entry = this.names.get(labels.join('.').toLowerCase());
    if (entry === 'silent') return;
    const answers = addressesOf(entry ?? {}, type).map((bytes) =>
      Buffer.from([...SAME_NAME, 0, type, ...CLASS_IN, ...TTL_SECONDS, 0, bytes.length, ...bytes]),
    );
    // A response without recursion errors, or NXDOMAIN, to one question.
    const head = Buffer.from([0x81, entry ? 0x80 : 0x83, 0, 1, 0, answers.length, 0, 0, 0, 0]);
    const question = query.subarray(12, end + 5);
    const response = Buffer.concat([query.subarray(0, 2), head, question, ...answers]);
    this.socket.send(response, port, address);
  }
}

function addressesOf(entry: Addresses, type: number): (readonly number[])[] {
  const name = TYPES[type as keyof typeof TYPES];
  if (name === 'A') return (entry.A ?? []).map((one) => one.split('.').map(Number));
  return name === 'AAAA' ? [...(entry.AAAA ?? [])] : [];
}
