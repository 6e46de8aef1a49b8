import {
  attributeOf,
  childOf,
  descendantsOf,
  type Element,
  elementsOf,
  leadingText,
  parseXml,
} from '../../formats/xml.ts';
import type { MetricInput } from '../../kinds.ts';
import { resultFile, rulesOf } from '../input.ts';
import { agentsWork } from './decks.ts';

/** Namespace of the attributes in LibreOffice's `registrymodifications.xcu`. */
const OOR = 'http://openoffice.org/2001/registry';

/** 1 when the presenter's console is switched off. */
export function checkPresenterConsole(input: MetricInput): number {
  return scoreSettings(input, (root) => {
    const path = '/org.openoffice.Office.Impress/Misc/Start';
    const [setting] = propertiesAt(root, (at) => at === path, 'EnablePresenterScreen');
    return Number(setting !== undefined && textOf(childOf(setting, '', 'value')).toLowerCase() === 'false');
  });
}

/** 1 when documents are saved every `minutes`. */
export function checkAutoSaving(input: MetricInput): number {
  const minutes = rulesOf(input).number('minutes');
  return scoreSettings(input, (root) => {
    const path = '/org.openoffice.Office.Common/Save/Document';
    const items = descendantsOf(root, '', 'item').filter((item) => attributeOf(item, 'path', OOR) === path);
    // The last word counts; in one item the first.
    const settings = items.flatMap((item) => descendantsOf(item, '', 'prop').filter(isNamedInterval).slice(0, 1));
    const value = settings.map((setting) => textOf(descendantsOf(setting, '', 'value')[0])).at(-1);
    return Number(value !== undefined && /^\s*[+-]?\d+\s*$/.test(value) && Number(value) === minutes);
  });
}

/** 1 when the locale of the user interface, else the one of documents, matches one of the patterns in `locale_set`. */
export function checkLocale(input: MetricInput): number {
  const patterns = rulesOf(input).texts('locale_set').map(shellPattern);
  return scoreSettings(input, (root) => {
    const isLocale = (path: string) => path.endsWith('L10N');
    const named = (name: string) => propertiesAt(root, isLocale, name).flatMap((prop) => valuesIn(prop));
    const value = [...named('ooSetupSystemLocale'), ...named('ooLocale')][0];
    if (value === undefined) return 0;
    const locale = leadingText(value);
    return Number(locale !== '' && patterns.some((pattern) => pattern.test(locale)));
  });
}

function scoreSettings(input: MetricInput, score: (root: Element) => number): number {
  const file = resultFile(input);
  return file === null ? 0 : agentsWork(() => score(parseXml(file.bytes)));
}

/** `prop` elements of that name, directly inside an `item` whose path holds. */
function propertiesAt(root: Element, holds: (path: string) => boolean, name: string): Element[] {
  return descendantsOf(root, '', 'item')
    .filter((item) => holds(attributeOf(item, 'path', OOR) ?? ''))
    .flatMap(elementsOf)
    .filter((prop) => prop.nodeName === 'prop' && attributeOf(prop, 'name', OOR) === name);
}

const isNamedInterval = (prop: Element) => attributeOf(prop, 'name', OOR) === 'AutoSaveTimeIntervall';

function textOf(value: Element | undefined): string {
  if (value === undefined) throw new Error('a setting has no value');
  return leadingText(value);
}

function valuesIn(prop: Element): Element[] {
  return elementsOf(prop).filter((child) => child.nodeName === 'value');
}

/** A shell's pattern (`*`, `?`, `[a-z]`, `[!a]`) as a regular expression for the whole text. */
function shellPattern(pattern: string): RegExp {
  const body = pattern.replace(/\*|\?|\[(!?)(\]?[^\]]*)\]|[^*?]/gs, (piece, not?: string, set?: string) => {
    if (piece === '*') return '.*';
    if (piece === '?') return '.';
    if (set === undefined) return piece.replace(/[.+^${}()|[\]\\/-]/, '\\$&');
    return `[${not ? '^' : ''}${set.replace(/[\\\]^[]/g, '\\$&')}]`;
  });
  return new RegExp(`^(?:${body})$`, 's');
}
