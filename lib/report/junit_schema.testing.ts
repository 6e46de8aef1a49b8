import { DOMParser, type Element } from '@xmldom/xmldom';

/**
 * What the JUnit schemas that readers are made for ask of a file, written down as rules: the strict one (a suite needs
 * all of its attributes and `properties`, `system-out`, `system-err`, in this order; the root has no attributes) and the one
 * of Jenkins, which is contained in it for what we write.
 */
const RULES: Readonly<Record<string, { attributes: Record<string, RegExp>; optional?: string[]; children: RegExp }>> = {
  testsuites: { attributes: {}, children: /^(testsuite )*$/ },
  testsuite: {
    attributes: {
      name: /./,
      package: /./,
      id: /^\d+$/,
      tests: /^\d+$/,
      failures: /^\d+$/,
      errors: /^\d+$/,
      skipped: /^\d+$/,
      time: /^\d+(\.\d+)?$/,
      timestamp: /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$/,
      hostname: /./,
    },
    children: /^properties (testcase )*system-out system-err $/,
  },
  properties: { attributes: {}, children: /^(property )*$/ },
  property: { attributes: { name: /./, value: /^/ }, children: /^$/ },
  testcase: {
    attributes: { name: /./, classname: /./, time: /^\d+(\.\d+)?$/ },
    children: /^((skipped|failure|error) )?$/,
  },
  skipped: { attributes: {}, optional: ['message'], children: /^$/ },
  failure: { attributes: { type: /./ }, optional: ['message'], children: /^$/ },
  error: { attributes: { type: /./ }, optional: ['message'], children: /^$/ },
  'system-out': { attributes: {}, children: /^$/ },
  'system-err': { attributes: {}, children: /^$/ },
};

/** What of a JUnit file a strict reader would refuse; nothing for a good one. */
export function junitFaults(xml: string): string[] {
  const faults: string[] = [];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what XML forbids.
  const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}|&#(?!9;|10;|13;)/u.exec(xml);
  if (forbidden) faults.push(`a character that XML has not, at ${forbidden.index}`);
  // It warns of replacement characters, which stand where half a surrogate pair was.
  const onError = (level: string, message: string) => level === 'warning' || faults.push(message);
  const root = new DOMParser({ onError }).parseFromString(xml, 'text/xml').documentElement;
  if (root?.nodeName === 'testsuites') visit(root, faults);
  else faults.push(`the root is ${root?.nodeName}`);
  return faults;
}

function visit(element: Element, faults: string[]): void {
  const rule = RULES[element.nodeName];
  if (!rule) {
    faults.push(`unknown element ${element.nodeName}`);
    return;
  }
  const { attributes, optional = [], children } = rule;
  for (const [name, form] of Object.entries(attributes)) {
    if (!form.test(element.getAttribute(name) ?? '') || !element.hasAttribute(name))
      faults.push(`${element.nodeName}: ${name} is "${element.getAttribute(name)}"`);
  }
  for (const { name } of [...element.attributes]) {
    if (!(name in attributes) && !optional.includes(name)) faults.push(`${element.nodeName}: attribute ${name}`);
  }
  const below = [...element.childNodes].filter((node): node is Element => node.nodeType === 1);
  const order = below.map((node) => `${node.nodeName} `).join('');
  if (!children.test(order)) faults.push(`${element.nodeName}: children ${order}`);
  for (const node of below) visit(node, faults);
  if (element.nodeName === 'testsuite') countCases(element, below, faults);
}

function countCases(suite: Element, below: readonly Element[], faults: string[]): void {
  const cases = below.filter((node) => node.nodeName === 'testcase');
  const having = (name: string) => cases.filter((node) => node.getElementsByTagName(name).length > 0).length;
  const counts = {
    tests: cases.length,
    failures: having('failure'),
    errors: having('error'),
    skipped: having('skipped'),
  };
  for (const [name, count] of Object.entries(counts)) {
    if (suite.getAttribute(name) !== String(count)) faults.push(`${name} should be ${count}`);
  }
}
