import { reading } from '../../formats/broken.ts';
import { W } from '../../formats/docx/values.ts';
import { OdtDocument } from '../../formats/odt/document.ts';
import { attributeOf, descendantsOf, leadingText, parseXml } from '../../formats/xml.ts';
import { ZipArchive } from '../../formats/zip.ts';
import type { Metric } from '../../kinds.ts';
import { expectedFiles, resultFile } from '../input.ts';
import { sameSet } from './python_text.ts';
import { sameTexts } from './texts.ts';
import { ofResult, ofTask } from './word_metric.ts';

const YELLOW = '#ffff00';

/** Two .odt files of equal texts, and no span of the result that its style gives a yellow background. */
const checkHighlightedWords: Metric = async (input) => {
  const isSame = (await sameTexts(input)) === 1;
  const result = resultFile(input);
  if (!isSame || result === null) return 0;
  const backgrounds = ofResult(() => new OdtDocument(result.bytes).spanBackgrounds);
  return Number(backgrounds !== null && !backgrounds.includes(YELLOW));
};

/** The same set of highlighted texts in two Word documents: of each highlighted run its first piece of text. */
const compareHighlightedText: Metric = (input) => {
  const expected = expectedFiles(input)[0]!;
  const wanted = ofTask(expected, input, () => highlightedIn(expected.bytes));
  const result = resultFile(input);
  const found = result && ofResult(() => highlightedIn(result.bytes));
  return Number(found !== null && sameSet(found, wanted));
};

function highlightedIn(bytes: Uint8Array): string[] {
  const root = reading('word/document.xml', () => parseXml(new ZipArchive(bytes).part('word/document.xml')));
  return descendantsOf(root, W, 'r').flatMap((run) => {
    const highlight = descendantsOf(run, W, 'highlight')[0];
    const text = descendantsOf(run, W, 't')[0];
    const isMarked = highlight !== undefined && attributeOf(highlight, 'val', W) !== 'none';
    return isMarked && text !== undefined ? [leadingText(text)] : [];
  });
}

export const highlightMetrics: Record<string, Metric> = {
  check_highlighted_words: checkHighlightedWords,
  compare_highlighted_text: compareHighlightedText,
};
