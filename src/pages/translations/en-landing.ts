import { markup } from './markup.js';

/** The landing page, for developers. */
export const landing = {
  title: 'For developers',
  heading: 'Build apps for your neighbourhood',
  lead: 'An OAuth 2.0 server and a JSON API. With the consent of a user, your app can read their profile, publish and list their posts, reply to comments, and see how many likes and comments each post has.',
  documentation: 'Read the documentation',
  guide: 'Developer guide',
  errorCodes: 'Error codes',
  openApi: 'OpenAPI document',
  how: 'How it works',
  steps: [
    {
      title: 'Register your app',
      text: markup`The operator registers the name, redirect URIs and scopes of your app, and gives you a <code>client_id</code>. Apps that run on a server also get a <code>client_secret</code>.`,
    },
    {
      title: 'Request access',
      text: markup`Redirect the browser to <code>/oauth/authorize</code> with your scopes, a random <code>state</code> and a PKCE challenge (<code>S256</code>).`,
    },
    {
      title: 'The user decides',
      text: 'They sign in with a one-time code sent to their phone, review the requested scopes, and allow all, some or none of them.',
    },
    {
      title: 'Exchange the authorization code',
      text: markup`Verify the <code>state</code>, then send the authorization code and the PKCE verifier to <code>/oauth/token</code>. The <code>scope</code> of the response lists what the user granted.`,
    },
    { title: 'Call the API', text: 'Send the access token in a header of each request.' },
  ],
  demoOn: 'The demo is on',
  demoOnText:
    'This server has a demo app and a demo user, so you can try the whole flow now. Do not enter real personal data.',
  demoHow: (phone: string) =>
    markup`To try it, open the documentation, click &ldquo;Authorize&rdquo; and sign in with <span class="phone">${phone}</span>. The server prints the code on its console or writes it to its SMS file.`,
  demoOff: 'The demo is off',
  demoOffText:
    'This server has no demo app and no demo user. Ask the operator to register your app.',
  footer: 'The operator of this server registers apps.',
};
