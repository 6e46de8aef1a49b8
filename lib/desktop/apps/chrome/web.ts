/** What a page shows, one block a row. */
export type Block =
  | { kind: 'heading' | 'label'; text: string }
  | { kind: 'link'; name: string; to: string }
  | { kind: 'item'; name: string }
  | { kind: 'entry' | 'check'; name: string }
  | { kind: 'radio'; name: string; group: string }
  | { kind: 'button'; name: string; to?: string; run?: (visit: Visit) => void };

export interface Page {
  title: string;
  blocks: Block[];
}

/** What a site may do when a button of it is clicked. */
export interface Visit {
  /** Text of an entry, `true` for a checked box, the chosen name of a radio group. */
  value(name: string): string | boolean;
  /** What the site keeps on this computer. */
  data(host: string): Record<string, unknown>;
  keep(host: string, data: Record<string, unknown>): void;
  go(address: string): void;
}

/** Shelves of the shop. */
export const SHELVES: Record<string, string[]> = {
  fruit: ['pear', 'fig', 'plum', 'kiwi'],
  tools: ['saw', 'drill', 'nail'],
  books: ['atlas', 'novel', 'comic'],
};

const NEWS: Record<string, string> = {
  sport: 'our team won 3 to 2',
  weather: 'rain until friday',
  world: 'leaders meet in oslo',
  science: 'a new moon was found',
};

const WIKI: Record<string, string> = {
  tea: 'tea is a hot drink',
  oslo: 'oslo is in norway',
  moon: 'the moon goes round us',
  otter: 'otters live in rivers',
};

export const SITES = ['shop.test', 'news.test', 'wiki.test', 'form.test', 'club.test'];
const SEARCH = /^(google|bing|duck)\.test\/search\?q=(.*)$/;

/** The page at an address (`shop.test/fruit`); `Not found` where there is none. */
export function pageAt(address: string, visit: Pick<Visit, 'data'>): Page {
  const search = SEARCH.exec(address);
  if (search) return searchPage(decodeQuery(search[2] ?? ''));
  const [host = '', ...rest] = address.split('/');
  const path = rest.join('/');
  const page = SITE_PAGES[host]?.(path, visit);
  return page ?? { title: 'Not found', blocks: [heading('Not found'), label(address)] };
}

/** Every page with a name of its own: what searches find. */
function allPages(): [string, string][] {
  return [
    ...SITES.map((site): [string, string] => [site, site]),
    ...Object.entries(SHELVES).flatMap(([shelf, products]) =>
      [shelf, ...products].map((n): [string, string] => [n, `shop.test/${n}`]),
    ),
    ...Object.keys(NEWS).map((name): [string, string] => [name, `news.test/${name}`]),
    ...Object.keys(WIKI).map((name): [string, string] => [name, `wiki.test/${name}`]),
  ];
}

function searchPage(query: string): Page {
  const words = query.toLowerCase().split(' ').filter(Boolean);
  const found = allPages().filter(([name]) => words.some((word) => name.includes(word)));
  const links = found.slice(0, 7).map(([name, to]): Block => ({ kind: 'link', name, to }));
  return { title: 'search', blocks: [heading(`results for ${query}`), ...links] };
}

const SITE_PAGES: Record<string, (path: string, visit: Pick<Visit, 'data'>) => Page | null> = {
  'shop.test': shopPage,
  'news.test': (path) => topicPage('news', NEWS, path),
  'wiki.test': (path) => {
    const page = topicPage('wiki', WIKI, path);
    if (!page || path !== '') return page;
    const search: Block[] = [
      { kind: 'entry', name: 'Search wiki' },
      { kind: 'button', name: 'Go', run: wikiSearch },
    ];
    return { ...page, blocks: [...page.blocks.slice(0, 1), ...search, ...page.blocks.slice(1)] };
  },
  'form.test': formPage,
  'club.test': clubPage,
};

function topicPage(site: string, topics: Record<string, string>, path: string): Page | null {
  if (path === '')
    return { title: site, blocks: [heading(site), ...Object.keys(topics).map((n) => link(n, `${site}.test/${n}`))] };
  const text = topics[path];
  return text === undefined ? null : { title: path, blocks: [heading(path), label(text), link(site, `${site}.test`)] };
}

function wikiSearch(visit: Visit): void {
  const name = String(visit.value('Search wiki')).trim().toLowerCase();
  if (name !== '') visit.go(`wiki.test/${name}`);
}

function shopPage(path: string, visit: Pick<Visit, 'data'>): Page | null {
  if (path === '')
    return {
      title: 'shop',
      blocks: [heading('shop'), ...[...Object.keys(SHELVES), 'cart'].map((n) => link(n, `shop.test/${n}`))],
    };
  if (path === 'cart') return cartPage(visit);
  const shelf = SHELVES[path];
  if (shelf)
    return {
      title: path,
      blocks: [heading(path), ...shelf.map((n): Block => ({ kind: 'button', name: n, to: `shop.test/${n}` }))],
    };
  if (!Object.values(SHELVES).some((products) => products.includes(path))) return null;
  const add = (v: Visit) => v.keep('shop.test', { cart: [...cartOf(v), path] });
  const cart: Block[] = cartOf(visit).includes(path) ? [label('in your cart')] : [];
  return {
    title: path,
    blocks: [
      heading(path),
      label(`price ${path.length * 2}`),
      { kind: 'button', name: 'Add to Cart', run: add },
      link('cart', 'shop.test/cart'),
      ...cart,
    ],
  };
}

function cartOf(visit: Pick<Visit, 'data'>): string[] {
  const { cart } = visit.data('shop.test');
  return Array.isArray(cart) ? cart.map(String) : [];
}

function cartPage(visit: Pick<Visit, 'data'>): Page {
  const cart = cartOf(visit);
  const order = (v: Visit) => {
    if (cartOf(v).length === 0) return;
    v.keep('shop.test', { ordered: cartOf(v), cart: [] });
    v.go('shop.test/cart');
  };
  return {
    title: 'cart',
    blocks: [
      heading(cart.length > 0 ? 'your cart' : 'the cart is empty'),
      ...cart.slice(0, 5).map((name): Block => ({ kind: 'item', name })),
      { kind: 'button', name: 'Empty Cart', run: (v) => v.keep('shop.test', { cart: [] }) },
      { kind: 'button', name: 'Order', run: order },
    ],
  };
}

function formPage(path: string): Page | null {
  if (path === 'thanks') return { title: 'thanks', blocks: [heading('thank you')] };
  if (path !== '') return null;
  const send = (v: Visit) => {
    v.keep('form.test', { name: v.value('Name'), city: v.value('City'), newsletter: v.value('Newsletter') === true });
    v.go('form.test/thanks');
  };
  return {
    title: 'form',
    blocks: [
      heading('sign up'),
      { kind: 'entry', name: 'Name' },
      { kind: 'entry', name: 'City' },
      { kind: 'check', name: 'Newsletter' },
      { kind: 'button', name: 'Send', run: send },
    ],
  };
}

function clubPage(path: string): Page | null {
  if (path === 'welcome') return { title: 'welcome', blocks: [heading('welcome')] };
  if (path !== '') return null;
  const join = (v: Visit) => {
    if (v.value('Terms') !== true) return;
    v.keep('club.test', { plan: String(v.value('plan')).toLowerCase(), terms: true });
    v.go('club.test/welcome');
  };
  const plans = ['Basic', 'Silver', 'Gold'].map((name): Block => ({ kind: 'radio', name, group: 'plan' }));
  return {
    title: 'club',
    blocks: [
      heading('join the club'),
      ...plans,
      { kind: 'check', name: 'Terms' },
      { kind: 'button', name: 'Join', run: join },
    ],
  };
}

function decodeQuery(query: string): string {
  try {
    return decodeURIComponent(query.replaceAll('+', ' '));
  } catch {
    return query;
  }
}

function heading(text: string): Block {
  return { kind: 'heading', text };
}

function label(text: string): Block {
  return { kind: 'label', text };
}

function link(name: string, to: string): Block {
  return { kind: 'link', name, to };
}
