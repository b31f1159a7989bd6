// recipe:begin
import type { OAuthConfig } from '@auth/core/providers';
import type { Settings } from './settings.js';

type User = { id: string; name: string; photoUrl: string | null };

/** Register the redirect URI `<your app>/auth/callback/neighbourhood`. */
export const neighbourhood = (settings: Settings): OAuthConfig<User> => ({
  id: 'neighbourhood',
  name: 'The neighbourhood',
  type: 'oauth',
  issuer: settings.issuer,
  clientId: settings.clientId,
  clientSecret: settings.clientSecret,
  authorization: {
    url: `${settings.issuer}/oauth/authorize`,
    params: { scope: 'profile.read posts.read' },
  },
  token: `${settings.issuer}/oauth/token`,
  userinfo: `${settings.issuer}/dev/v1/me`,
  checks: ['pkce', 'state'],
  profile: ({ id, name, photoUrl }) => ({ id, name, image: photoUrl }),
});
// recipe:end
