/** The name of the security scheme in the published document. */
export const SECURITY_SCHEME = 'oauth2';
