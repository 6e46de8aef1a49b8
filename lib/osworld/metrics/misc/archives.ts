import { DartError } from '../../../errors.ts';
import { sequenceRatio } from '../../difflib.ts';
import { Fields } from '../../fields.ts';
import { namesIn, unpack } from '../../formats/archive.ts';
import { pdfText } from '../../formats/pdf.ts';
import { ZipArchive } from '../../formats/zip.ts';
import type { Metric } from '../../kinds.ts';
import { expectedFiles, resultFile } from '../input.ts';
import { ofAgent, ofTask, onBothFiles } from './both.ts';

/** Which metric compares members of which `file_type`. */
const COMPARED_BY: Record<string, string> = {
  text: 'compare_text_file',
  pdf: 'compare_pdfs',
  docx: 'compare_docx_files',
  ppt: 'compare_pptx_files',
  image: 'compare_images',
  csv: 'compare_csv',
  table: 'compare_table',
  audio: 'compare_audios',
  video: 'compare_videos',
};

/**
 * The metric of archives: the names in the folder `file_path` are the expected ones, then the mean of what the metric
 * for `file_type` (text) says of each; other options are that metric's.
 * @param metricOf gives a metric by name
 */
export function archiveMetric(metricOf: (name: string) => Metric | undefined): Metric {
  return async (input) => {
    const { options } = input;
    const type = options.text('file_type', 'text');
    const compare = metricOf(COMPARED_BY[type] ?? '');
    if (compare === undefined) throw options.wrong('file_type', `one of ${Object.keys(COMPARED_BY).join(', ')}`);
    const folder = options.text('file_path', '');
    const result = await ofAgent(resultFile(input), unpack);
    if (result === null) return 0;
    const expected = await ofTask(expectedFiles(input)[0]!, unpack, input);
    const names = namesIn(expected, folder);
    if (names.length === 0) {
      throw new DartError(`metric ${input.name}: the expected archive has nothing in "${folder}"`, {
        where: input.where,
      });
    }
    if (names.join('\n') !== namesIn(result, folder).join('\n')) return 0;
    const { file_path: _folder, file_type: _type, ...others } = options.values;
    const own = new Fields(options.owner, options.where, others);
    let sum = 0;
    for (const name of names) {
      const path = folder === '' ? name : `${folder.replace(/\/+$/, '')}/${name}`;
      const [one, other] = [result, expected].map((files) => {
        const bytes = files.get(path);
        return bytes === undefined ? null : { name, bytes };
      });
      // A folder among the members is nothing that a metric could read.
      if (other !== null) sum += await compare({ ...input, options: own, result: one, expected: other });
    }
    return sum / names.length;
  };
}

/** How alike the texts of two PDF files must be to count as the same. */
const SAME_PDF = 0.95;

/** The same names, and each member byte by byte; PDF files by their texts. */
const compareZips: Metric = onBothFiles(
  (bytes) => new ZipArchive(bytes),
  async (result, expected, input) => {
    const names = new Set(expected.names);
    if (names.size !== new Set(result.names).size || !result.names.every((name) => names.has(name))) return false;
    for (const name of names) {
      const file = { name, bytes: expected.part(name) };
      const found = await ofAgent({ name, bytes: new Uint8Array() }, () => result.part(name));
      if (found === null) return false;
      if (Buffer.compare(found, file.bytes) === 0) continue;
      if (!name.toLowerCase().endsWith('.pdf')) return false;
      const text = await ofAgent({ name, bytes: found }, pdfText);
      if (text === null) return false;
      if (sequenceRatio([...text], [...(await ofTask(file, pdfText, input))]) < SAME_PDF) return false;
    }
    return true;
  },
);

/** The metrics of archives, `compare_archive` left out. */
export const zipMetrics: Record<string, Metric> = { compare_zip_files: compareZips };
