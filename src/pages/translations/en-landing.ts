import { markup } from './markup.js';

/** The front page, for developers. */
export const landing = {
  title: 'For developers',
  heading: 'Build on the neighbourhood',
  lead: "An OAuth 2.0 server and a JSON API. With a member's consent your app can read their profile, publish and list their posts, answer comments and see how each post does.",
  documentation: 'Read the documentation',
  guide: 'Integration guide',
  errorCodes: 'Error codes',
  openApi: 'OpenAPI document',
  how: 'How it works',
  steps: [
    {
      title: 'Register',
      text: markup`The operator registers your app's name, redirect URIs and scopes, and gives you a <code>client_id</code>. Apps that run on a server also get a <code>client_secret</code>.`,
    },
    {
      title: 'Ask',
      text: markup`Send the browser to <code>/oauth/authorize</code> with your scopes, a random <code>state</code> and a PKCE challenge (<code>S256</code>).`,
    },
    {
      title: 'The member decides',
      text: 'They sign in with a code sent to their phone, see who asks for what, and allow all of it, some of it or none.',
    },
    {
      title: 'Exchange',
      text: markup`Compare the <code>state</code>, then post the code and its verifier to <code>/oauth/token</code>. Read <code>scope</code> in the answer: it lists what was granted.`,
    },
    { title: 'Call', text: 'Send the token in the header of each call.' },
  ],
  demoOn: 'The demo is on',
  demoOnText:
    "A demo app and a demo user exist on this server, so you can run the whole flow right away. Keep real people's details out of it.",
  demoHow: (phone: string) =>
    markup`To run it, open the documentation, press &ldquo;Authorize&rdquo; and sign in with <span class="phone">${phone}</span>. The code appears where this server prints its messages, or in the file that it writes them to.`,
  demoOff: 'The demo is off',
  demoOffText:
    'This server has no demo app and no demo user. Ask its operator to register your app.',
  footer: 'Apps are registered by the operator of this server.',
};
