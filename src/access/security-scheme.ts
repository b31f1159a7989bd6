/** The name of the API's security scheme in the published document. */
export const SECURITY_SCHEME = 'oauth2';

/** That of the endpoints that apps call for themselves, which take the credentials in the form as well. */
export const CLIENT_SECURITY_SCHEME = 'client';
