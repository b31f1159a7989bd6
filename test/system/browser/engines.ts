import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { launch } from 'puppeteer-core';
import { freePort } from '../../support/free-port.js';
import { findProgram } from '../../support/programs.js';

/** A browser with one tab, and a profile of its own. Scripts are expressions. */
export interface Tab {
  /** Returns the value of an expression in the page. Fails while the page is replaced by another. */
  run<T>(expression: string): Promise<T>;
  /** Clicks the first element of a selector with the mouse. */
  click(selector: string): Promise<void>;
  /** Presses the keys of a text while the element has the focus. A line feed is the Enter key. */
  type(selector: string, text: string): Promise<void>;
  close(): Promise<void>;
}

export interface Engine {
  /** Such as `Firefox`. */
  name: string;
  /** The packages of Debian. */
  packages: string;
  isInstalled: boolean;
  start: () => Promise<Tab>;
}

/** The engines of the current browsers, as Debian packages them. */
export async function findEngines(): Promise<Engine[]> {
  const chromium = process.env.CHROMIUM_PATH ?? (await findProgram('chromium', 'google-chrome'));
  const firefox = await findProgram('firefox-esr', 'firefox');
  const webKitDriver = await findProgram('WebKitWebDriver');
  const xServer = await findProgram('Xvfb');
  return [
    {
      name: 'Chromium',
      packages: 'chromium',
      isInstalled: chromium !== undefined,
      start: () => startPuppeteer('chrome', chromium ?? ''),
    },
    {
      name: 'Firefox',
      packages: 'firefox-esr',
      isInstalled: firefox !== undefined,
      start: () => startPuppeteer('firefox', firefox ?? ''),
    },
    {
      name: 'WebKitGTK',
      packages: 'webkit2gtk-driver and xvfb',
      isInstalled: webKitDriver !== undefined && xServer !== undefined,
      start: () => startWebKit(webKitDriver ?? '', xServer ?? ''),
    },
  ];
}

/** Uses WebDriver BiDi in Firefox, and the DevTools protocol in Chromium. */
async function startPuppeteer(browser: 'chrome' | 'firefox', executablePath: string): Promise<Tab> {
  const started = await launch({
    browser,
    executablePath,
    args: browser === 'chrome' ? ['--no-sandbox'] : [],
    // Firefox under automation has no back/forward cache otherwise.
    extraPrefsFirefox: { 'fission.bfcacheInParent': true },
  });
  const page = await started.newPage();
  return {
    run: <T>(expression: string) => page.evaluate(expression) as Promise<T>,
    click: (selector) => page.click(selector),
    async type(selector, text) {
      await page.focus(selector);
      await page.keyboard.type(text);
    },
    close: () => started.close(),
  };
}

const ENTER_KEY = '\uE007';

/** Uses the commands of W3C WebDriver, which WebKitGTK has instead of BiDi, and a display without a screen. */
async function startWebKit(driver: string, xServer: string): Promise<Tab> {
  const display = spawn(xServer, ['-displayfd', '1'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [number] = (await once(createInterface(display.stdout), 'line')) as [string];
  const port = await freePort();
  const env = { ...process.env, DISPLAY: `:${number}` };
  const server = spawn(driver, [`--port=${port}`], { env, stdio: 'ignore' });
  const stop = (): Promise<void[]> => Promise.all([server, display].map(end));

  async function send<T>(method: string, path: string, body?: object): Promise<T> {
    const url = `http://127.0.0.1:${port}/session${path}`;
    const response = await fetch(url, { method, body: JSON.stringify(body) });
    const { value } = (await response.json()) as { value: T };
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(value)}`);
    return value;
  }
  try {
    const { sessionId } = await repeat(() =>
      send<{ sessionId: string }>('POST', '', { capabilities: {} }),
    );
    const post = <T>(command: string, body: object): Promise<T> =>
      send('POST', `/${sessionId}/${command}`, body);
    const element = async (selector: string): Promise<string> => {
      const found = await post<object>('element', { using: 'css selector', value: selector });
      return `element/${Object.values(found)[0]}`;
    };
    return {
      run: (expression) => post('execute/sync', { script: `return ${expression}`, args: [] }),
      click: async (selector) => post(`${await element(selector)}/click`, {}),
      type: async (selector, text) =>
        post(`${await element(selector)}/value`, { text: text.replaceAll('\n', ENTER_KEY) }),
      async close() {
        await send('DELETE', `/${sessionId}`);
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.kill()) await once(child, 'exit');
}

/** Repeats work until it succeeds, for at most ten seconds. */
export async function repeat<T>(work: () => Promise<T>): Promise<T> {
  const until = performance.now() + 10_000;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > until) throw error;
      await sleep(50);
    }
  }
}
