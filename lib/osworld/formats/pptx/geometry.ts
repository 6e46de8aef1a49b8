import { attributeOf, childOf, type Element, elementsOf } from '../xml.ts';
import { A, P, type Part } from './package.ts';
import { coordinate, integer, oneOf, required } from './values.ts';

/** Left, top, width and height as the XML names them. */
export type Side = 'x' | 'y' | 'cx' | 'cy';

const SHAPES = ['sp', 'grpSp', 'graphicFrame', 'cxnSp', 'pic', 'contentPart'];
/** For each kind of placeholder the kind that a layout's takes its place from on the master; others take none. */
const MASTER_KIND: Record<string, string> = {
  ...{ title: 'title', ctrTitle: 'title', dt: 'dt', ftr: 'ftr', sldNum: 'sldNum' },
  ...{ body: 'body', chart: 'body', clipArt: 'body', dgm: 'body', media: 'body', obj: 'body', pic: 'body' },
  ...{ subTitle: 'body', tbl: 'body' },
};
const PLACEHOLDERS = [...Object.keys(MASTER_KIND), 'hdr', 'sldImg'];

/** The elements of shapes directly inside a slide's tree or a group, in the order in which they are painted. */
export function shapeElements(tree: Element): Element[] {
  return elementsOf(tree).filter(({ namespaceURI, localName }) => namespaceURI === P && SHAPES.includes(localName!));
}

/** The tree of shapes of a slide, a layout, a master or notes. */
export function treeOf(part: Part): Element {
  const slide = childOf(part.root, P, 'cSld');
  const tree = slide && childOf(slide, P, 'spTree');
  if (tree === undefined) throw new Error(`${part.path} has no tree of shapes`);
  return tree;
}

/** The `ph` element that makes a shape a placeholder. */
export function placeholderOf(shape: Element): Element | undefined {
  const head = elementsOf(shape)[0];
  const properties = head && childOf(head, P, 'nvPr');
  return properties && childOf(properties, P, 'ph');
}

/** `title`, `body`, …; `obj` where it is not said. */
export function placeholderKind(placeholder: Element): string {
  return oneOf(placeholder, 'type', PLACEHOLDERS, 'obj');
}

function placeholderIndex(placeholder: Element): number {
  return integer(attributeOf(placeholder, 'idx') ?? '0');
}

/** A shape's own place, EMU; null where it gives none. */
export function ownSide(shape: Element, side: Side): number | null {
  const isFrame = shape.localName === 'graphicFrame';
  const frame = isFrame
    ? need(shape, 'xfrm')
    : childOf(need(shape, shape.localName === 'grpSp' ? 'grpSpPr' : 'spPr'), A, 'xfrm');
  const isSize = side === 'cx' || side === 'cy';
  const point = frame && childOf(frame, A, isSize ? 'ext' : 'off');
  if (point === undefined) return null;
  return (isSize ? integer : coordinate)(required(point, side));
}

/** The place that a slide's placeholder inherits from its layout, which may take it from the master. */
export function inheritedSide(placeholder: Element, side: Side, slide: Part): number | null {
  const layout = slide.relatedBy('slideLayout');
  if (layout === undefined) throw new Error(`${slide.path} has no layout`);
  const index = placeholderIndex(placeholder);
  const base = findPlaceholder(layout, (found) => placeholderIndex(found) === index);
  if (base === undefined) return null;
  const own = ownSide(base, side);
  if (own !== null || base.localName !== 'sp') return own;
  const kind = placeholderKind(placeholderOf(base)!);
  if (!(kind in MASTER_KIND)) throw new Error(`a placeholder of kind ${kind} has no place on a master`);
  const onMaster = findPlaceholder(masterOf(layout), (found) => placeholderKind(found) === MASTER_KIND[kind]);
  return onMaster === undefined ? null : ownSide(onMaster, side);
}

/** The master of a layout. */
export function masterOf(layout: Part): Part {
  const master = layout.relatedBy('slideMaster');
  if (master === undefined) throw new Error(`${layout.path} has no master`);
  return master;
}

/** The first placeholder shape of a part for which the test holds. */
export function findPlaceholder(part: Part, test: (placeholder: Element) => boolean): Element | undefined {
  return shapeElements(treeOf(part)).find((shape) => {
    const placeholder = placeholderOf(shape);
    return placeholder !== undefined && test(placeholder);
  });
}

function need(shape: Element, name: string): Element {
  const child = childOf(shape, P, name);
  if (child === undefined) throw new Error(`<${shape.nodeName}> has no ${name}`);
  return child;
}
