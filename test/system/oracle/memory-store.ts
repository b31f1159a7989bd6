import type { Adapter, AdapterPayload } from 'oidc-provider';

/** The storage of the reference server, in memory. To move its clock, `age` changes the stored times. */
export class MemoryStore {
  private readonly stored = new Map<string, AdapterPayload>();

  /** The adapter for one model of `oidc-provider`. */
  adapter(kind: string): Adapter {
    const { stored } = this;
    const find = async (id: string): Promise<AdapterPayload | undefined> =>
      stored.get(`${kind} ${id}`);
    const first = (wanted: (payload: AdapterPayload) => boolean): AdapterPayload | undefined =>
      [...stored].find(([key, payload]) => key.startsWith(`${kind} `) && wanted(payload))?.[1];
    return {
      find,
      findByUid: async (uid) => first((payload) => payload.uid === uid),
      findByUserCode: async (userCode) => first((payload) => payload.userCode === userCode),
      upsert: async (id, payload) => void stored.set(`${kind} ${id}`, payload),
      destroy: async (id) => void stored.delete(`${kind} ${id}`),
      async consume(id) {
        Object.assign((await find(id)) ?? {}, { consumed: Math.floor(Date.now() / 1000) });
      },
      async revokeByGrantId(grantId) {
        for (const [key, payload] of stored) if (payload.grantId === grantId) stored.delete(key);
      },
    };
  }

  /** Makes all stored objects older. */
  age(seconds: number): void {
    for (const payload of this.stored.values())
      for (const moment of ['iat', 'exp'] as const)
        if (payload[moment] !== undefined) payload[moment] -= seconds;
  }
}
