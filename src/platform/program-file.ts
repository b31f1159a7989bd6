/**
 * A file that belongs to the program and is no code.
 * @param path from the top of the sources, such as `src/pages/style.css`; the build puts it at the same place below `dist`
 */
export function programFile(path: string): URL {
  return new URL(`../../${path}`, import.meta.url);
}
