/** The options of the permission model of Node.js (`--permission`), by the field `permission` of its errors. */
const OPTIONS: Readonly<Record<string, string>> = {
  FileSystemRead: '--allow-fs-read',
  FileSystemWrite: '--allow-fs-write',
  Net: '--allow-net',
};

interface PermissionError extends NodeJS.ErrnoException {
  permission?: string;
  resource?: string;
}

/** What to do if the permission model of Node.js denied an access, such as `add --allow-net …`. Undefined for other errors. */
export function permissionRemedy(error: unknown): string | undefined {
  const option = missingOption(error as PermissionError);
  return option && `add ${option} to the options of Node.js, for example in NODE_OPTIONS`;
}

/** The message of a failed access to a file, without a full stop. */
export function reasonOf(error: unknown): string {
  const remedy = permissionRemedy(error);
  return remedy === undefined
    ? (error as Error).message
    : `the permission model of Node.js denies it; ${remedy}`;
}

function missingOption({ code, permission, resource }: PermissionError): string | undefined {
  if (code === 'ERR_DLOPEN_DISABLED') return '--allow-addons';
  if (code !== 'ERR_ACCESS_DENIED') return undefined;
  // Errors of sockets lack the field.
  const option = OPTIONS[permission ?? 'Net'];
  return option?.startsWith('--allow-fs') ? `${option}=${resource}` : option;
}
