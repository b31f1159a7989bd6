import { originProblem } from './origin.js';

describe('Registration of an origin', () => {
  it.each([
    'https://app.example',
    'https://app.example:8443',
    'http://localhost:5173',
    'http://tauri.localhost',
    'http://127.0.0.1',
    'http://[::1]:3000',
    'capacitor://localhost',
    'ionic://localhost',
    'tauri://localhost',
    'app://-',
    'com.example.garden://web.view:8080',
    'chrome-extension://abcdefghijklmnopabcdefghijklmnop',
    'moz-extension://6f1b5c1e-7b0a-4d7e-9b53-0b8a7a4de5c1',
    'safari-web-extension://6F1B5C1E-7B0A-4D7E-9B53-0B8A7A4DE5C1',
  ])('accepts %s', (origin) => {
    expect(originProblem(origin)).toBeUndefined();
  });

  it.each([
    ['null', 'send null'],
    ['file://', 'send null'],
    ['file:///index.html', 'send null'],
    ['FILE://x', 'send null'],
    ['', 'scheme in lower case'],
    ['app.example', 'scheme in lower case'],
    ['*', 'wildcard'],
    ['https://*.app.example', 'wildcard'],
    ['https://app.example/', 'without a path'],
    ['https://app.example/path', 'without a path'],
    ['https://app.example?x', 'without a path'],
    ['https://app.example#x', 'without a path'],
    ['capacitor://localhost/', 'without a path'],
    ['capacitor:', 'scheme in lower case'],
    ['capacitor://', 'scheme in lower case'],
    ['capacitor:localhost', 'scheme in lower case'],
    ['Capacitor://localhost', 'scheme in lower case'],
    ['HTTPS://app.example', 'scheme in lower case'],
    ['https://me@app.example', 'scheme in lower case'],
    ['https://a.example https://b.example', 'scheme in lower case'],
    ['capacitor://local\nhost', 'scheme in lower case'],
    ['https://App.example', 'as browsers send it: https://app.example'],
    ['https://app.example:443', 'as browsers send it: https://app.example'],
    ['https://gärten.example', 'as browsers send it: https://xn--grten-gra.example'],
    ['https://app.example:99999', 'valid host'],
    ['http://app.example', 'https'],
    ['http://192.168.0.10', 'https'],
    ['http://localhost.evil.example', 'https'],
    ['capacitor://gärten', 'ASCII'],
    ['capacitor://localhost:x', 'ASCII'],
    ['javascript://x', 'another scheme'],
    ['data://x', 'another scheme'],
    ['blob://x', 'another scheme'],
    ['wss://app.example', 'another scheme'],
    ['about://blank', 'another scheme'],
    [`https://${'a'.repeat(300)}`, 'characters'],
  ])('rejects "%s"', (origin, reason) => {
    expect(originProblem(origin)).toContain(reason);
  });
});
