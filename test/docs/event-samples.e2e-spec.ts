import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isInstalled, runSample, samplesOf } from '../support/guide-samples.js';
import {
  EVENTS,
  SECRET,
  type SignedRequest,
  signedWithoutSecret,
} from '../support/signed-events.js';

/** The package as the service serves it. */
const CLIENT = pathToFileURL(resolve('dist/client/dist/index.js')).href;

/**
 * What calls the function of each recipe with a request in environment variables. It prints the id of an event that the function accepts,
 * and `rejected` if the function reports that the event is not genuine. Any other error ends it with a failure.
 */
const CALLERS: Record<string, (code: string) => string> = {
  ts: (code) => `${code.replace('neighbourhood-devplatform-client', CLIENT)}
const { BODY: body, SECRET, HTTP_WEBHOOK_ID: id, HTTP_WEBHOOK_TIMESTAMP: time, HTTP_WEBHOOK_SIGNATURE: signature } = process.env;
const headers = { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature };
const { status } = await receive(new Request('http://127.0.0.1/', { method: 'POST', body, headers }), SECRET);
if (status !== 204) console.log(status === 400 ? 'rejected' : status);
`,
  python: (code) => `${code}
import os
names = ["webhook-id", "webhook-timestamp", "webhook-signature"]
headers = {name: os.environ["HTTP_" + name.upper().replace("-", "_")] for name in names}
try:
    print(verify(os.environb[b"BODY"], headers, os.environ["SECRET"])["id"])
except ValueError:
    print("rejected")
`,
  php: (code) => `${code}
try {
    echo verify(getenv('BODY'), $_SERVER, getenv('SECRET'))['id'];
} catch (RuntimeException) {
    echo 'rejected';
}
`,
  go: (code) => `${code.replace('import (', 'import (\n\t"encoding/json"\n\t"fmt"\n\t"os"')}
func main() {
	header := http.Header{}
	for _, name := range []string{"WEBHOOK_ID", "WEBHOOK_TIMESTAMP", "WEBHOOK_SIGNATURE"} {
		header.Set(strings.ReplaceAll(name, "_", "-"), os.Getenv("HTTP_"+name))
	}
	body := []byte(os.Getenv("BODY"))
	var event struct{ ID string }
	if verify(body, header, os.Getenv("SECRET")) != nil {
		fmt.Println("rejected")
	} else if err := json.Unmarshal(body, &event); err != nil {
		panic(err)
	} else {
		fmt.Println(event.ID)
	}
}
`,
  // Rack reads bodies as binary.
  ruby: (code) => `${code}
begin
  puts verify(ENV.fetch('BODY').b, ENV, ENV.fetch('SECRET'))['id']
rescue RuntimeError
  puts 'rejected'
end
`,
};
/** What compares in constant time, which no result shows. */
const COMPARISONS: Record<string, string> = {
  ts: 'verifyWebhook(',
  python: 'hmac.compare_digest(',
  php: 'hash_equals(',
  go: 'hmac.Equal(',
  ruby: 'OpenSSL.secure_compare(',
};
const MAX_LINES = 20;

/** Without imports. */
function linesOfCode(code: string): number {
  const own = code
    .replaceAll(/^import \([^]*?^\)$/gm, '')
    .replaceAll(/^(?:import|require|package) .*$|^<\?php$/gm, '');
  return own.split('\n').filter((line) => line.trim() !== '').length;
}

describe('Recipes of the page of events', () => {
  it('are in each language, short, and compare signatures in constant time', async () => {
    const samples = await samplesOf('events');
    expect(samples.map(({ language }) => language)).toEqual(Object.keys(CALLERS));
    const long = samples.filter(({ code }) => linesOfCode(code) > MAX_LINES);
    expect(long).toEqual([]);
    for (const { language, code } of samples) expect(code).toContain(COMPARISONS[language]);
  });

  // Go compiles the standard library first.
  describe.each(Object.keys(CALLERS))('in %s', { timeout: 120_000 }, async (language) => {
    const installed = await isInstalled(language);

    async function run(request: SignedRequest, secret = SECRET): Promise<string> {
      const sample = (await samplesOf('events')).find((one) => one.language === language);
      const code = CALLERS[language]?.(sample?.code ?? '') ?? '';
      const env = {
        BODY: request.body,
        SECRET: secret,
        HTTP_WEBHOOK_ID: request.id,
        HTTP_WEBHOOK_TIMESTAMP: request.timestamp,
        HTTP_WEBHOOK_SIGNATURE: request.signature,
      };
      return (await runSample({ language, code }, env)).trim();
    }

    it.runIf(installed).each(EVENTS)('$result $title', async ({ request, result }) => {
      const event = request(Date.now());
      const printed = await run(event);
      if (result === 'accept') expect(printed).toContain(event.id);
      else expect(printed).toBe('rejected');
    });

    it.runIf(installed).each(['', 'whsec_'])(
      'accept nothing with the secret "%s"',
      async (secret) => {
        const event = signedWithoutSecret(Date.now());
        expect(await run(event, secret).catch(() => 'failed')).not.toContain(event.id);
      },
    );
  });
});
