// recipe:begin
export interface Settings {
  /** Exact URL of the service, without a trailing slash. */
  issuer: string;
  clientId: string;
  /** Only for confidential apps. */
  clientSecret?: string;
  /** As registered. */
  redirectUri: string;
}
// recipe:end
