// recipe:begin
export interface Settings {
  /** The exact base URL of the service, without a trailing slash. */
  issuer: string;
  clientId: string;
  /** Only for a confidential app. */
  clientSecret?: string;
  /** Exactly as registered. */
  redirectUri: string;
}
// recipe:end
