import { createRequire } from 'node:module';
import { resolve } from 'node:path';

// Calls the recipe as Zapier does, with its test harness. Runs in the folder of the recipes.
const zapier = createRequire(resolve('package.json'))('zapier-platform-core');
const { default: authentication } = await import(resolve('zapier.js'));
const { getMe, sendUserTo } = await import(resolve('helpers.js'));

const app = { version: '1.0.0', platformVersion: zapier.version, authentication };
const call = zapier.createAppTester(app);
const { oauth2Config, test } = authentication;
const request = { redirect_uri: process.env.REDIRECT_URI, state: crypto.randomUUID() };
const link = await call(oauth2Config.authorizeUrl, { inputData: request });
const { searchParams } = await sendUserTo(link);
if (searchParams.get('state') !== request.state) throw new Error('state differs');
const inputData = { ...request, code: searchParams.get('code') };
const first = await call(oauth2Config.getAccessToken, { inputData });
const second = await call(oauth2Config.refreshAccessToken, { authData: first });
if (second.refresh_token === first.refresh_token) throw new Error('The refresh token is old.');
// Zapier merges the result into the stored data.
await call(test, { authData: { ...first, ...second } });
console.log(await getMe(second.access_token));
