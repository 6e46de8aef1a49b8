import { isFile } from '../../context.ts';
import { reading } from '../../formats/broken.ts';
import { attributeOf, childrenOf, descendantsOf, leadingText, parseXml } from '../../formats/xml.ts';
import type { Metric, MetricInput } from '../../kinds.ts';
import { isRecord } from '../../rules.ts';
import { resultFile, rulesOf } from '../input.ts';
import { ofResult } from './word_metric.ts';

const OOR = 'http://openoffice.org/2001/registry';
const DEFAULT_FONT = '/org.openoffice.Office.Writer/DefaultFont';

/** `{font_name}`: the default font of Writer in LibreOffice's registrymodifications.xcu. */
const findDefaultFont: Metric = (input) => {
  const font = rulesOf(input).text('font_name');
  const file = resultFile(input);
  return Number(file !== null && ofResult(() => defaultFontIn(file.bytes)) === font);
};

/** The last value counts, as the settings are written. */
function defaultFontIn(bytes: Uint8Array): string | undefined {
  const root = reading('registrymodifications.xcu', () => parseXml(bytes));
  return descendantsOf(root, '', 'item')
    .filter((item) => attributeOf(item, 'path', OOR) === DEFAULT_FONT)
    .flatMap((item) => descendantsOf(item, '', 'prop'))
    .filter((property) => attributeOf(property, 'name', OOR) === 'Standard')
    .flatMap((property) => childrenOf(property, '', 'value'))
    .map(leadingText)
    .at(-1);
}

/**
 * A file of the expected name lies in the result, a folder as `list_directory` brings it. OSWorld looks at a folder of
 * the machine that scores, which no task can name.
 */
const checkFileExists: Metric = (input) => {
  const name = typeof input.expected === 'string' ? input.expected : rulesOf(input).text('filename');
  return Number(childrenIn(input).some((child) => child.type === 'file' && child.name === name));
};

function childrenIn({ result }: MetricInput): Record<string, unknown>[] {
  const children = isRecord(result) && !isFile(result) ? result.children : undefined;
  return Array.isArray(children) ? children.filter(isRecord) : [];
}

export const officeSettingsMetrics: Record<string, Metric> = {
  find_default_font: findDefaultFont,
  check_file_exists: checkFileExists,
};
