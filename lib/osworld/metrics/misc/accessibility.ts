import { DartError, messageOf } from '../../../errors.ts';
import { accessibilityXml } from '../../../guest/accessibility_xml.ts';
import type { AccessibleNode } from '../../../guest/guest.ts';
import { Fields } from '../../fields.ts';
import { selectCss } from '../../formats/css_selector.ts';
import { type Element, parseXml } from '../../formats/xml.ts';
import type { Metric, MetricInput } from '../../kinds.ts';
import { isRecord } from '../../rules.ts';
import { textRatio } from '../../similarity.ts';

const UBUNTU = 'https://accessibility.ubuntu.example.org/ns';
const NAMESPACES = {
  ...{ st: `${UBUNTU}/state`, attr: `${UBUNTU}/attributes`, cp: `${UBUNTU}/component`, doc: `${UBUNTU}/document` },
  ...{
    docattr: `${UBUNTU}/document/attributes`,
    txt: `${UBUNTU}/text`,
    val: `${UBUNTU}/value`,
    act: `${UBUNTU}/action`,
  },
};

/**
 * Rules `{xpath}` or `{selectors: [CSS]}`, with `text` and `exact`: each must find a node of the accessibility tree;
 * where a text is wanted, the rule's score is 1 for an equal one, or with `exact: false` the best similarity. The
 * product of all, 0..1.
 */
const accessibilityTree: Metric = async (input) => {
  const root = parseXml(treeOf(input));
  if (!Array.isArray(input.expected)) throw wrong(input, 'the rules should be a list');
  if (input.expected.length === 0) throw wrong(input, 'there should be a rule');
  let score = 1;
  for (const entry of input.expected) {
    const rule = new Fields(`a rule of ${input.name}`, input.where, entry);
    const found = await select(root, rule, input);
    if (found.length === 0) return 0;
    if (rule.has('text')) score *= Math.max(...found.map((element) => likeness(rule, textOf(element))));
  }
  return score;
};

function treeOf(input: MetricInput): string {
  if (typeof input.result === 'string') return input.result;
  if (isRecord(input.result) && 'role' in input.result)
    return accessibilityXml(input.result as unknown as AccessibleNode);
  throw wrong(input, 'the result should be an accessibility tree');
}

function wrong(input: MetricInput, message: string, cause?: unknown): DartError {
  return new DartError(`metric ${input.name}: ${message}`, { where: input.where, cause });
}

async function select(root: Element, rule: Fields, input: MetricInput): Promise<Element[]> {
  try {
    if (!rule.has('xpath')) return selectCss(root, rule.texts('selectors').join(', '), NAMESPACES);
    const { default: xpath } = await import('xpath');
    const found = xpath.useNamespaces(NAMESPACES)(rule.text('xpath'), root as never);
    if (!Array.isArray(found)) throw rule.wrong('xpath', 'a path that finds nodes');
    return found as unknown as Element[];
  } catch (cause) {
    if (cause instanceof DartError) throw cause;
    throw wrong(input, messageOf(cause), cause);
  }
}

/** The text before an element's first child; null without any. */
function textOf(element: Element): string | null {
  const first = element.firstChild;
  return first?.nodeType === 3 ? first.nodeValue : null;
}

function likeness(rule: Fields, text: string | null): number {
  const wanted = rule.text('text');
  if (rule.flag('exact') || !rule.has('exact')) return Number(text === wanted);
  return text === null ? 0 : textRatio(wanted, text);
}

/** The metric of the accessibility tree. */
export const accessibilityMetrics: Record<string, Metric> = { check_accessibility_tree: accessibilityTree };
