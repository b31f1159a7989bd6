/**
 * The path of the logo of an app. Another logo has another path.
 * @param hash SHA-256 of the logo's bytes, in hex
 */
export function logoPath(clientId: string, hash: string): string {
  return `/assets/app-logos/${clientId}/${hash}`;
}
