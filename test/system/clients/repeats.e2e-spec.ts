import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { create } from 'axios';
import axiosRetry from 'axios-retry';
import { got } from 'got';
import ky from 'ky';
import { ofetch } from 'ofetch';
import { onOneEngine } from '../../support/database.js';
import { useFolder } from '../../support/folder.js';
import { freePort } from '../../support/free-port.js';
import { Member, type PageBody, type PostBody } from '../../support/member.js';
import { findProgram } from '../../support/programs.js';
import { json } from '../../support/responses.js';
import { useTestApp } from '../../support/test-app.js';
import { nginxConfiguration } from '../../support/web-servers.js';
import { RecipeProcess } from '../libraries/recipe-process.js';
import { LossyProxy } from './lossy-proxy.js';

const KEY = 'Idempotency-Key';
const POST = { content: 'Free plums at the blue gate' };

type Headers = Record<string, string>;
/** Publishes with one retry. `hook` makes a key in the hook of the library. Returns the status. */
type Publish = (url: string, headers: Headers, hook?: () => string) => Promise<number>;

const LIBRARIES: Record<string, Publish> = {
  async axios(url, headers, hook) {
    const client = create({ headers });
    client.interceptors.request.use((config) => {
      if (hook) config.headers.set(KEY, hook());
      return config;
    });
    axiosRetry(client, { retries: 1, retryCondition: () => true });
    return (await client.post(url, POST)).status;
  },
  async got(url, headers, hook) {
    const { statusCode } = await got.post(url, {
      headers,
      json: POST,
      retry: {
        limit: 1,
        methods: ['POST'],
        calculateDelay: ({ computedValue }) => computedValue && 1,
      },
      hooks: {
        beforeRequest: [
          (options) => {
            if (hook) options.headers[KEY.toLowerCase()] = hook();
          },
        ],
      },
    });
    return statusCode;
  },
  async ky(url, headers, hook) {
    const { status } = await ky.post(url, {
      headers,
      json: POST,
      retry: { limit: 1, methods: ['post'], delay: () => 1 },
      hooks: {
        beforeRequest: [
          (request) => {
            if (hook) request.headers.set(KEY, hook());
          },
        ],
      },
    });
    return status;
  },
  async ofetch(url, headers, hook) {
    const { status } = await ofetch.raw(url, {
      method: 'POST',
      headers,
      body: POST,
      retry: 1,
      retryDelay: 1,
      onRequest({ options }) {
        if (hook) options.headers.set(KEY, hook());
      },
    });
    return status;
  },
};

/** Calls `GET /dev/v1/me`, so that the connection is kept, and then publishes. The address, the token and the key are parameters. */
const JAVA = `
import java.io.*;
import java.net.*;

public class Repeat {
  static void send(String[] args, String path, String body) throws IOException {
    var connection = (HttpURLConnection) new URL(args[0] + path).openConnection();
    connection.setRequestProperty("Authorization", "Bearer " + args[1]);
    if (body != null) {
      connection.setRequestProperty("Content-Type", "application/json");
      if (args.length > 2) connection.setRequestProperty("${KEY}", args[2]);
      connection.setDoOutput(true);
      connection.getOutputStream().write(body.getBytes());
    }
    connection.getInputStream().readAllBytes();
    if (body != null) System.out.println(connection.getResponseCode());
  }
  public static void main(String[] args) throws IOException {
    send(args, "/dev/v1/me", null);
    send(args, "/dev/v1/posts", "${JSON.stringify(POST).replaceAll('"', '\\"')}");
  }
}
`;

const GO = `
package main

import ("fmt"; "io"; "net/http"; "os"; "strings")

func send(method, path, body string) {
	request, _ := http.NewRequest(method, os.Args[1]+path, strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+os.Args[2])
	request.Header.Set("Content-Type", "application/json")
	if len(os.Args) > 3 { request.Header.Set("${KEY}", os.Args[3]) }
	response, err := http.DefaultClient.Do(request)
	if err != nil { panic(err) }
	io.Copy(io.Discard, response.Body)
	response.Body.Close()
	if method == "POST" { fmt.Println(response.StatusCode) }
}

func main() {
	send("GET", "/dev/v1/me", "")
	send("POST", "/dev/v1/posts", \`${JSON.stringify(POST)}\`)
}
`;

/** With the server twice in the `upstream`, nginx asks the other one. */
const forwardTwice = (port: number, upstream: string): string => `
  upstream service { server ${upstream}; server ${upstream}; }
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://service; }
  }`;

onOneEngine('Repeated requests', (database) => {
  const app = useTestApp(database);
  const folder = useFolder();
  let member: Member;
  let proxy: LossyProxy;
  let url: string;
  let authorization: string;

  beforeEach(async () => {
    member = await Member.join(app());
    proxy = await LossyProxy.open(app().baseUrl);
    url = `${proxy.url}/dev/v1/posts`;
    authorization = `Bearer ${member.token}`;
  });
  afterEach(() => proxy.close());

  async function countPosts(): Promise<number> {
    return (await json<PageBody<PostBody>>(await member.get('/posts'))).data.length;
  }

  const keys = (): (string | undefined)[] => proxy.attempts.map(({ key }) => key);

  describe.each(Object.entries(LIBRARIES))('by %s', (_name, publish) => {
    it('have the key that was made outside of its hooks, so that there is one post', async () => {
      const key = randomUUID();
      expect(await publish(url, { authorization, [KEY]: key })).toBe(201);
      expect(keys()).toEqual([key, key]);
      expect(await countPosts()).toBe(1);
    });

    it('have another key if a hook makes it, so that there are two posts', async () => {
      expect(await publish(url, { authorization }, randomUUID)).toBe(201);
      expect(new Set(keys()).size).toBe(2);
      expect(await countPosts()).toBe(2);
    });
  });

  describe('on a kept connection', () => {
    type Program = (key: string[]) => Promise<[program: string | undefined, parameters: string[]]>;

    const curl: Program = async ([key]) => {
      const token = ['-sS', '-H', `Authorization: ${authorization}`];
      const post = [
        ...token,
        '-w',
        '%{http_code}',
        '-o',
        join(folder, 'post'),
        '--json',
        JSON.stringify(POST),
        url,
      ];
      if (key !== undefined) post.push('-H', `${KEY}: ${key}`);
      const me = [...token, '-o', join(folder, 'me'), `${proxy.url}/dev/v1/me`];
      return [await findProgram('curl'), [...me, '--next', ...post]];
    };
    const java: Program = async (key) => {
      await writeFile(join(folder, 'Repeat.java'), JAVA);
      const parameters = [join(folder, 'Repeat.java'), proxy.url, member.token, ...key];
      return [(await findProgram('javac')) && (await findProgram('java')), parameters];
    };
    const go: Program = async (key) => {
      await writeFile(join(folder, 'repeat.go'), GO);
      return [
        await findProgram('go'),
        ['run', join(folder, 'repeat.go'), proxy.url, member.token, ...key],
      ];
    };
    const run = async (program: Program, key: string[], skip: (note: string) => never) => {
      const [command, parameters] = await program(key);
      const { stdout } = await promisify(execFile)(command ?? skip('Not installed.'), parameters);
      return stdout.trim();
    };

    it.each([
      ['curl', curl],
      ['Java', java],
    ])(
      'by %s create two posts without a key, and one with it',
      { timeout: 60_000 },
      async (_name, program) => {
        const skip = (note: string): never => {
          throw new Error(note);
        };
        expect(await run(program, [], skip)).toBe('201');
        expect(keys()).toEqual([undefined, undefined]);
        expect(await countPosts()).toBe(2);
        proxy.attempts = [];
        const key = randomUUID();
        expect(await run(program, [key], skip)).toBe('201');
        expect(keys()).toEqual([key, key]);
        expect(await countPosts()).toBe(3);
      },
    );

    it('come from Go only with a key', { timeout: 120_000 }, async ({ skip }) => {
      await expect(run(go, [], skip)).rejects.toThrow('EOF');
      expect(keys()).toEqual([undefined]);
      expect(await countPosts()).toBe(1);
      proxy.attempts = [];
      const key = randomUUID();
      expect(await run(go, [key], skip)).toBe('201');
      expect(keys()).toEqual([key, key]);
      expect(await countPosts()).toBe(2);
    });
  });

  it('come from nginx for DELETE, and the 404 means success', async ({ skip }) => {
    const program = (await findProgram('nginx')) ?? skip('Not installed.');
    const { id } = await member.publish();
    const port = await freePort();
    const file = join(folder, 'nginx.conf');
    await writeFile(file, nginxConfiguration(folder, forwardTwice(port, new URL(proxy.url).host)));
    const nginx = RecipeProcess.start([program, '-p', folder, '-c', file], {});
    const address = `http://127.0.0.1:${port}`;
    try {
      await nginx.listening(`${address}/blank`);
      const headers = { authorization, 'content-type': 'application/json' };
      const deleted = await fetch(`${address}/dev/v1/posts/${id}`, { method: 'DELETE', headers });
      expect(deleted.status).toBe(404);
      expect(proxy.attempts).toHaveLength(2);
      proxy.attempts = [];
      const body = JSON.stringify(POST);
      const posted = await fetch(`${address}/dev/v1/posts`, { method: 'POST', headers, body });
      expect(posted.status).toBe(502);
      expect(proxy.attempts).toHaveLength(1);
      expect(await countPosts()).toBe(1);
    } finally {
      await nginx.stop();
    }
  });
});
