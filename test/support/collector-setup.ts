import { addCounts, collector } from './response-collector.js';

/** Fails a test whose responses violate the published document, and passes the counts to the reporter. */
afterEach(({ task }) => {
  task.file.meta.responses = addCounts(task.file.meta.responses ?? {}, collector.takeCounts());
  expectConformity();
});

/** Covers responses in hooks after the last test. */
afterAll(expectConformity);

function expectConformity(): void {
  const violations = [...new Set(collector.takeViolations())];
  if (violations.length > 0)
    throw new Error(
      `Responses that openapi/openapi.json does not describe:\n${violations.join('\n')}`,
    );
}
