import NextAuth from 'next-auth';

const { ISSUER, CLIENT_ID, CLIENT_SECRET } = process.env;
const neighbourhood = {
  id: 'neighbourhood', // the redirect URI is <your site>/api/auth/callback/neighbourhood
  name: 'The neighbourhood',
  type: 'oauth',
  issuer: ISSUER,
  authorization: { url: `${ISSUER}/oauth/authorize`, params: { scope: 'profile.read posts.read' } },
  token: `${ISSUER}/oauth/token`,
  userinfo: `${ISSUER}/dev/v1/me`,
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  checks: ['pkce', 'state'],
  profile: ({ id, name, photoUrl }) => ({ id, name, image: photoUrl }),
};
// The file pages/api/auth/[...nextauth].js of a Next.js site.
export default (NextAuth.default ?? NextAuth)({ providers: [neighbourhood] });
