const input = './generated/openapi.json';

export default {
  client: {
    input,
    output: {
      target: 'generated/orval/client.ts',
      client: 'fetch',
      baseUrl: { getBaseUrlFromSpecification: true },
    },
  },
  zod: {
    input,
    output: {
      target: 'generated/orval/zod.ts',
      client: 'zod',
      override: { zod: { generateEachHttpStatus: true } },
    },
  },
};
