import { addCounts, collector } from './response-collector.js';

/** Fails the test in which an answer broke the published document, and hands the counts to the reporter. */
afterEach(({ task }) => {
  task.file.meta.answers = addCounts(task.file.meta.answers ?? {}, collector.takeCounts());
  expectConformity();
});

/** For answers to hooks that ran after the last test. */
afterAll(expectConformity);

function expectConformity(): void {
  const violations = [...new Set(collector.takeViolations())];
  if (violations.length > 0)
    throw new Error(
      `Answers that openapi/openapi.json does not describe:\n${violations.join('\n')}`,
    );
}
