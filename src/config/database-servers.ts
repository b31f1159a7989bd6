const SEVERAL = /^((?:mysql|mariadb):\/\/(?:[^@/]*@)?)([^/?#@]*,[^/?#@]*)((?:[/?#].*)?)$/;

/** A `DATABASE_URL` for each server that one names: `mysql://user:password@first:3306,second:3306/name` are two. */
export function urlOfEachServer(databaseUrl: string): string[] {
  const [, start = '', servers, rest = ''] = SEVERAL.exec(databaseUrl) ?? [];
  if (servers === undefined) return [databaseUrl];
  return servers.split(',').map((server) => `${start}${server}${rest}`);
}

/** Whether several servers, where there are several, each have a host. */
export function namesServers(databaseUrl: string): boolean {
  const urls = urlOfEachServer(databaseUrl);
  return (
    urls.length === 1 || urls.every((url) => URL.canParse(url) && new URL(url).hostname !== '')
  );
}
