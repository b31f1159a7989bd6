/** The TypeScript client as npm installs it. `tools/client-package.ts` packs it at build time. The path below `dist` and of the service. */
export const CLIENT_PACKAGE = 'docs/client.tgz';
