import type { Locator, Page, Response } from 'playwright-core';
import type { Person } from './browser.js';
import type { Chromium } from './chromium.js';

interface DisplayedResponse {
  status: string;
  body: string;
}

/** A page with Swagger UI. */
export class SwaggerUi {
  constructor(
    private readonly chrome: Chromium,
    readonly page: Page,
  ) {}

  get dialog(): Locator {
    return this.page.locator('.dialog-ux');
  }

  /** Clicks both Authorize buttons of Swagger UI, signs in and decides in the pop-up window. */
  async authorize(user: Person, decision: 'approve' | 'deny'): Promise<void> {
    await this.page.getByRole('button', { name: 'Authorize', exact: true }).click();
    const opening = this.page.waitForEvent('popup');
    // The accessible name of the Authorize button in the dialog.
    await this.dialog.getByRole('button', { name: 'Apply given OAuth2 credentials' }).click();
    const popup = await opening;
    await this.chrome.signIn(popup, user);
    const closing = popup.waitForEvent('close');
    await popup.locator(`[value=${decision}]`).click();
    await closing;
  }

  /** Authorizes with Allow. Returns the response of the token endpoint. */
  async tokens(user: Person): Promise<TokenResponse> {
    const isToken = (response: Response): boolean =>
      response.url().endsWith('/oauth/token') && response.request().method() === 'POST';
    // The wait includes the sign-in.
    const [response] = await Promise.all([
      this.page.waitForResponse(isToken, { timeout: 30_000 }),
      this.authorize(user, 'approve'),
    ]);
    await expect.poll(() => this.dialog.getByText('Authorized').count()).toBe(1);
    return { status: response.status(), body: (await response.json()) as TokenResponse['body'] };
  }

  /** Closes the dialog, which has a Close button for each flow. */
  async closeDialog(): Promise<void> {
    await this.dialog.getByRole('button', { name: 'Close', exact: true }).first().click();
  }

  executeGetMe(): Promise<DisplayedResponse> {
    return this.execute('getMe');
  }

  /** Executes an operation with its default values. Returns the displayed status and body. */
  async execute(operationId: string): Promise<DisplayedResponse> {
    await this.operation(operationId).locator('.opblock-summary-control').click();
    return this.clickExecute(operationId);
  }

  /** Executes an open operation again with another body. */
  async executeAgain(operationId: string, body: string): Promise<DisplayedResponse> {
    await this.operation(operationId).locator('textarea.body-param__text').fill(body);
    await this.operation(operationId).getByRole('button', { name: 'Clear' }).click();
    return this.clickExecute(operationId);
  }

  private operation(operationId: string): Locator {
    return this.page.locator(`.opblock[id$="-${operationId}"]`);
  }

  private async clickExecute(operationId: string): Promise<DisplayedResponse> {
    const operation = this.operation(operationId);
    await operation.getByRole('button', { name: 'Execute' }).click();
    const live = operation.locator('.live-responses-table .response');
    const status = await live.locator('.response-col_status').innerText();
    return { status: status.trim(), body: await live.locator('.highlight-code').innerText() };
  }

  /** Posts a form with `fetch` in the page. */
  post(url: string, form: Record<string, string>): Promise<TokenResponse> {
    return this.page.evaluate(
      async (request) => {
        const body = new URLSearchParams(request.form);
        const response = await fetch(request.url, { method: 'POST', body });
        return { status: response.status, body: (await response.json()) as Record<string, string> };
      },
      { url, form },
    );
  }
}

/** A response of the token or revocation endpoint. */
export interface TokenResponse {
  status: number;
  body: Record<string, string>;
}
