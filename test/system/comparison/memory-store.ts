import type { Adapter, AdapterPayload } from 'oidc-provider';

/**
 * The storage of the reference server, in memory. `age` moves the times of issue and expiry, so that the reference server acts as if
 * time had passed.
 */
export class MemoryStore {
  private readonly stored = new Map<string, AdapterPayload>();

  /** The adapter for one model of `oidc-provider`. */
  adapter(kind: string): Adapter {
    const { stored } = this;
    const find = async (id: string): Promise<AdapterPayload | undefined> =>
      stored.get(`${kind} ${id}`);
    const firstOfKind = (
      matches: (payload: AdapterPayload) => boolean,
    ): AdapterPayload | undefined =>
      [...stored].find(([key, payload]) => key.startsWith(`${kind} `) && matches(payload))?.[1];
    return {
      find,
      findByUid: async (uid) => firstOfKind((payload) => payload.uid === uid),
      findByUserCode: async (userCode) => firstOfKind((payload) => payload.userCode === userCode),
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

  /** Moves `iat` and `exp` of all stored objects into the past. Not `consumed`: the reference server checks only whether it is set. */
  age(seconds: number): void {
    for (const payload of this.stored.values())
      for (const time of ['iat', 'exp'] as const)
        if (payload[time] !== undefined) payload[time] -= seconds;
  }
}
