// recipe:begin
export interface Settings {
  /** Where the service is, to the letter: no slash at its end. */
  issuer: string;
  clientId: string;
  /** Of a confidential app. */
  clientSecret?: string;
  /** As it was registered. */
  redirectUri: string;
}
// recipe:end
