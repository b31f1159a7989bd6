/**
 * The URL of an asset, which the build copies to the same path below `dist`.
 * @param path from the root of the repository, such as `src/pages/style.css`
 */
export function assetUrl(path: string): URL {
  return new URL(`../../${path}`, import.meta.url);
}
