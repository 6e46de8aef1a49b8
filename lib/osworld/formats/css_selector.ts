import { type Element, elementsOf } from './xml.ts';

type Test = (element: Element) => boolean;
type Namespaces = Record<string, string>;

/** Elements below `root`, and itself, that a CSS selector picks, in document order. */
export function selectCss(root: Element, selector: string, namespaces: Namespaces): Element[] {
  const matches = compile(selector, namespaces);
  return everyElement(root).filter(matches);
}

function everyElement(element: Element): Element[] {
  return [element, ...elementsOf(element).flatMap(everyElement)];
}

const NAME = String.raw`-?[A-Za-z_][\w-]*`;
const STRING = String.raw`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`;
/** One thing after the other: a combinator or comma, a type, an attribute. */
const TOKEN = new RegExp(
  `(\\s*[>+~,]\\s*|\\s+)|(?:(${NAME})\\|)?(${NAME}|\\*)|\\[\\s*(?:(${NAME})\\|)?(${NAME})\\s*(?:([~|^$*]?=)\\s*(${STRING}|[^\\]\\s]+)\\s*)?\\]`,
  'y',
);

/**
 * The test that a selector stands for: types, `*`, attributes with or without a namespace prefix, and the combinators
 * blank, `>`, `+`, `~` and `,`. Throws an Error at anything else.
 */
function compile(selector: string, namespaces: Namespaces): Test {
  const source = selector.trim();
  const choices: Test[] = [];
  let tests: Test[] = [];
  let before: Test = () => true;
  const compound = (): Test => {
    const [own, left] = [tests, before];
    if (own.length === 0) throw new Error(`the selector ${selector} lacks something`);
    tests = [];
    return (element) => own.every((test) => test(element)) && left(element);
  };
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < source.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(source);
    if (match === null) throw new Error(`the selector ${selector} cannot be read from "${source.slice(at, at + 20)}"`);
    const [, combinator, typePrefix, type, prefix, name, operator, value] = match;
    if (combinator?.trim() === ',') {
      choices.push(compound());
      before = () => true;
    } else if (combinator !== undefined) before = COMBINATORS[combinator.trim()]!(compound());
    else if (type !== undefined) tests.push(hasType(type, namespaceOf(typePrefix, namespaces)));
    else tests.push(hasAttribute(name!, namespaceOf(prefix, namespaces), operator, unquoted(value)));
  }
  choices.push(compound());
  return (element) => choices.some((test) => test(element));
}

function namespaceOf(prefix: string | undefined, namespaces: Namespaces): string | null {
  if (prefix === undefined) return null;
  const namespace = namespaces[prefix];
  if (namespace === undefined) throw new Error(`the namespace ${prefix} is not known`);
  return namespace;
}

function hasType(type: string, namespace: string | null): Test {
  return (element) => {
    const isThere = type === '*' || (namespace === null ? element.nodeName === type : element.localName === type);
    return isThere && (namespace === null || element.namespaceURI === namespace);
  };
}

function hasAttribute(name: string, namespace: string | null, operator: string | undefined, wanted: string): Test {
  return (element) => {
    const value = namespace === null ? element.getAttribute(name) : element.getAttributeNS(namespace, name);
    if (value === null) return false;
    return operator === undefined || OPERATORS[operator]!(value, wanted);
  };
}

const OPERATORS: Record<string, (value: string, wanted: string) => boolean> = {
  '=': (value, wanted) => value === wanted,
  '~=': (value, wanted) => value.split(/\s+/).includes(wanted),
  '|=': (value, wanted) => value === wanted || value.startsWith(`${wanted}-`),
  '^=': (value, wanted) => wanted !== '' && value.startsWith(wanted),
  '$=': (value, wanted) => wanted !== '' && value.endsWith(wanted),
  '*=': (value, wanted) => wanted !== '' && value.includes(wanted),
};

function unquoted(value = ''): string {
  return /^["']/.test(value) ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value;
}

const COMBINATORS: Record<string, (left: Test) => Test> = {
  '': (left) => (element) => ancestorsOf(element).some(left),
  '>': (left) => (element) => ancestorsOf(element).slice(0, 1).some(left),
  '+': (left) => (element) => elderOf(element).slice(-1).some(left),
  '~': (left) => (element) => elderOf(element).some(left),
};

function ancestorsOf(element: Element): Element[] {
  const parent = element.parentNode;
  return parent?.nodeType === element.nodeType ? [parent as Element, ...ancestorsOf(parent as Element)] : [];
}

/** The siblings before an element. */
function elderOf(element: Element): Element[] {
  const [parent] = ancestorsOf(element);
  const siblings = parent === undefined ? [element] : elementsOf(parent);
  return siblings.slice(0, siblings.indexOf(element));
}
