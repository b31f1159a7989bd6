import type { DataSource } from 'typeorm';
import { newId } from '../../src/common/ids.js';
import { ApiCall } from '../../src/modules/quota/api-call.entity.js';

/** An app that nobody registered: the call log does not ask. */
export const CALLER = 'svc_app_01h455vb4pex5vsknk084sn02q';

/** Records one call for each of these moments. */
export async function recordCalls(
  { manager }: DataSource,
  moments: readonly (Date | string)[],
  call: Partial<ApiCall> = {},
): Promise<void> {
  const rows = moments.map((moment) => {
    const at = new Date(moment);
    return {
      at,
      id: newId('call', at),
      clientId: CALLER,
      userId: null,
      route: 'GET /dev/v1/me',
      status: 200,
      durationMs: 1,
      requestId: 'req_x',
      ...call,
    };
  });
  for (let from = 0; from < rows.length; from += 500)
    await manager.insert(ApiCall, rows.slice(from, from + 500));
}
