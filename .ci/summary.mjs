// summary.mjs REPORT MAY_SKIP [FAILED_STEP]...: sums up vitest's JSON report, lists what failed and what was skipped, and
// ends with `N passed, N failed`. A step that failed counts once; the step `tests` only where no test says why.
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

const [, , reportPath, allowedPath, ...failedSteps] = process.argv;

const allowed = readFileSync(allowedPath, 'utf8')
  .split('\n')
  .map((line) => line.replace(/\s*#.*$/, '').trim())
  .filter(Boolean)
  .map((line) => new RegExp(line));

const counts = { passed: 0, failed: 0, skipped: 0 };

function count(name, status) {
  if (status === 'passed') counts.passed += 1;
  else if (status === 'failed') fail('failed', name);
  else if (allowed.some((pattern) => pattern.test(name))) counts.skipped += 1;
  else fail('skipped', name);
}

function fail(how, name) {
  counts.failed += 1;
  console.log(`${how}: ${name}`);
}

if (!existsSync(reportPath)) fail('failed', 'the tests did not run to their end');
else {
  for (const file of JSON.parse(readFileSync(reportPath, 'utf8')).testResults) {
    const path = relative(process.cwd(), file.name);
    const before = counts.failed;
    for (const test of file.assertionResults) count(`${path}: ${test.fullName}`, test.status);
    // A file that cannot be loaded has no tests to fail.
    if (file.status === 'failed' && counts.failed === before) fail('failed', `${path}: ${file.message}`);
  }
}
for (const step of failedSteps) {
  if (step !== 'tests') fail('failed', `the step ${step}, see above`);
  else if (counts.failed === 0) fail('failed', 'the tests ended with an error that is none of theirs, see above');
}
if (counts.skipped > 0) console.log(`${counts.skipped} skipped as .ci/may-skip allows`);
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed === 0 ? 0 : 1;
