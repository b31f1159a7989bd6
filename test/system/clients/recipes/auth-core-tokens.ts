// recipe:begin
import type { AuthConfig } from '@auth/core';
import type { JWT } from '@auth/core/jwt';
import type { Settings } from './settings.js';

/** Spread the result into the configuration. Stores tokens in the session, refreshes them, and revokes them at sign-out. */
export function storeTokens({ issuer, clientId, clientSecret = '' }: Settings) {
  const post = async (path: string, form: Record<string, string>) => {
    const body = { ...form, client_id: clientId, client_secret: clientSecret };
    const request = { method: 'POST', body: new URLSearchParams(body) };
    return fetch(`${issuer}${path}`, request).then((response) => response.json());
  };
  const secondsFromNow = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

  async function refresh(token: JWT): Promise<JWT | null> {
    const form = { grant_type: 'refresh_token', refresh_token: String(token.refresh_token) };
    const response = await post('/oauth/token', form).catch(() => ({ error: 'no response' }));
    const { error, access_token, refresh_token, expires_in } = response;
    if (error === 'invalid_grant') return null; // the user has to sign in again
    if (error !== undefined) return token; // temporary; the next request retries
    return { ...token, access_token, refresh_token, expires_at: secondsFromNow(expires_in) };
  }

  const callbacks: AuthConfig['callbacks'] = {
    async jwt({ token, account }) {
      if (!account) return Number(token.expires_at) > secondsFromNow(60) ? token : refresh(token);
      const { access_token, refresh_token, expires_at } = account;
      return { ...token, access_token, refresh_token, expires_at };
    },
  };
  const events: AuthConfig['events'] = {
    async signOut(message) {
      const token = 'token' in message ? message.token : null;
      if (token) await post('/oauth/revoke', { token: String(token.refresh_token) });
    },
  };
  return { callbacks, events };
}
// recipe:end
