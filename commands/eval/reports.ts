import { appendFile } from 'node:fs/promises';
import { type EvaluationReport, jsonReport } from '../../lib/report/document.ts';
import { evaluationPage, type PageChoice } from '../../lib/report/evaluation_page.ts';
import { junitReport } from '../../lib/report/junit.ts';
import { markdownReport } from '../../lib/report/markdown.ts';
import type { LoadBlob } from '../../lib/report/trajectory/screens.ts';
import { fileError } from '../../lib/stream/errno.ts';
import { writeWhole, writeWholeStream } from '../../lib/stream/files.ts';
import type { WantedReport } from './report_options.ts';

/** What a page needs besides the numbers. */
export interface PageParts {
  choice: PageChoice;
  loadBlob: LoadBlob;
}

/** Writes the reports, each whole or not at all. @throws DartError naming the file that cannot be written. */
export async function writeReports(
  wanted: readonly WantedReport[],
  report: EvaluationReport,
  page: PageParts,
): Promise<void> {
  for (const { format, path } of wanted) {
    if (format === 'html') {
      await writeWholeStream(path, evaluationPage(report, page.choice.trajectories, page.loadBlob));
    } else if (format === 'github') {
      await appendFile(path, `${markdownReport(report)}\n`).catch((error: unknown) => {
        throw fileError(error, 'write', path);
      });
    } else {
      const text = { junit: junitReport, md: markdownReport, json: jsonReport }[format](report);
      await writeWhole(path, text);
    }
  }
}
