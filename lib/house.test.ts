import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');

/** What each room may import, besides lib/errors.ts and itself: the table of rooms. A path names a part of a room. */
const MAY_IMPORT: Record<string, string[]> = {
  'lib/stream': [],
  'lib/cli': ['lib/stream'],
  'lib/store': ['lib/stream', 'native/index.ts'],
  'lib/guest': ['lib/stream'],
  'lib/desktop': ['lib/guest'],
  'lib/osworld': ['lib/guest', 'lib/stream'],
  'lib/environment': ['lib/guest', 'lib/desktop', 'lib/store'],
  'lib/graph': [],
  'lib/policy': ['lib/guest', 'lib/graph', 'lib/stream'],
  'lib/rollout': ['lib/environment', 'lib/osworld', 'lib/policy', 'lib/store'],
  'lib/curation': ['lib/policy/grammar', 'lib/store', 'lib/stream', 'native/index.ts'],
  'lib/training': ['lib/policy/network', 'lib/graph', 'lib/store', 'lib/stream', 'native/index.ts'],
  'lib/report': ['lib/stream'],
  native: [],
  commands: ['lib', 'native/index.ts'],
};

/** Beyond that table; docs/decisions.md ("The house") says why. */
const EXCEPTIONS: Record<string, string[]> = {
  'lib/environment': ['lib/stream'],
  'lib/rollout': ['lib/stream', 'lib/guest/guest.ts'],
  'lib/training': ['lib/policy/openai/prompt.ts', 'lib/policy/policy.ts'],
  commands: ['native/kernels.bench.ts'],
};

/** The paths and packages that a module's text imports: static, re-exported, for types only and on demand. */
function specifiersIn(text: string): string[] {
  const statement = /^(?:import|export)\b[^'";]*?\bfrom\s+'([^'\n]+)'|^import\s+'([^'\n]+)'|\bimport\('([^'\n]+)'\)/gm;
  return [...text.matchAll(statement)].map((match) => (match[1] ?? match[2] ?? match[3])!);
}

const isTest = (path: string) => /\.(test|testing)\.ts$/.test(path);
/** Tests and measurements lie beside what they are about, and may ask any room for help. */
const isAside = (path: string) => isTest(path) || path.endsWith('.bench.ts');
const within = (path: string, place: string) => path === place || path.startsWith(`${place}/`);
const roomOf = (path: string) => Object.keys(MAY_IMPORT).find((room) => within(path, room)) ?? path;

const files = ['lib', 'commands', 'native']
  .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((path) => join(folder, String(path))))
  .filter((path) => path.endsWith('.ts') && !within(path, 'native/build'));
const specifiers = new Map(files.map((path) => [path, specifiersIn(readFileSync(join(root, path), 'utf8'))]));
/** For each file the files that it imports. */
const imports = new Map(
  [...specifiers].map(([path, named]) => [
    path,
    named.filter((s) => s.startsWith('.')).map((s) => join(path, '..', s)),
  ]),
);
const shipped = [...imports].filter(([path]) => !isTest(path));

/** Imports from one room into another: `[from, to]`. */
const crossings = shipped
  .filter(([path]) => !isAside(path))
  .flatMap(([from, targets]) =>
    targets
      .filter((to) => roomOf(to) !== roomOf(from) && to !== 'lib/errors.ts')
      .map((to): [string, string] => [from, to]),
  );

/** The first circle that can be reached from `path`, as a list of files, or null. */
function circleFrom(path: string, trail: string[], clear: Set<string>): string[] | null {
  if (clear.has(path)) return null;
  if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
  for (const next of imports.get(path) ?? []) {
    const circle = circleFrom(next, [...trail, path], clear);
    if (circle) return circle;
  }
  clear.add(path);
  return null;
}

describe('the house', () => {
  it('reads every form of import', () => {
    const text = [
      "import { a } from './a.ts';",
      'import {',
      '  type B,',
      "} from './b.ts';",
      "export { c } from './c.ts';",
      "import './d.ts';",
      "const e = await import('./e.ts');",
      "type F = import('./f.ts').F;",
      "const from = 'nowhere';",
    ].join('\n');
    expect(specifiersIn(text)).toEqual(['./a.ts', './b.ts', './c.ts', './d.ts', './e.ts', './f.ts']);
  });

  it('has no room that the table does not name, and no import of a file that is not there', () => {
    expect(
      files.filter(
        (path) => !(roomOf(path) in MAY_IMPORT) && !/^lib\/(errors|errors\.testing|house\.test)\.ts$/.test(path),
      ),
    ).toEqual([]);
    expect(shipped.flatMap(([, targets]) => targets).filter((path) => !imports.has(path))).toEqual([]);
    expect(crossings.length).toBeGreaterThan(100);
  });

  it('lets a room import only the rooms that the table gives it', () => {
    const forbidden = crossings.filter(([from, to]) => {
      const room = roomOf(from);
      return ![...MAY_IMPORT[room]!, ...(EXCEPTIONS[room] ?? [])].some((place) => within(to, place));
    });
    expect(forbidden.map(([from, to]) => `${from} imports ${to}`)).toEqual([]);
  });

  it('keeps no exception that nothing needs any more', () => {
    const listed = Object.entries(EXCEPTIONS).flatMap(([room, places]) => places.map((place) => ({ room, place })));
    const idle = listed.filter(
      ({ room, place }) => !crossings.some(([from, to]) => roomOf(from) === room && within(to, place)),
    );
    expect(idle).toEqual([]);
  });

  it('has no circle between files', () => {
    const clear = new Set<string>();
    for (const path of files) expect(circleFrom(path, [], clear)).toBeNull();
  });

  it('imports no test from what is shipped, and lib/errors.ts imports nothing', () => {
    const testing = shipped.flatMap(([from, targets]) => targets.filter(isTest).map((to) => `${from} imports ${to}`));
    expect(testing).toEqual([]);
    expect(imports.get('lib/errors.ts')).toEqual([]);
  });

  it('says of every public function and class what it gives', () => {
    const bare = shipped.flatMap(([path]) => {
      const lines = readFileSync(join(root, path), 'utf8').split('\n');
      const undocumented = (line: string, i: number) =>
        /^export (async |abstract )*(function|class)\b/.test(line) && !lines[i - 1]?.endsWith('*/');
      return lines.filter(undocumented).map((line) => `${path}: ${line}`);
    });
    expect(bare).toEqual([]);
  });

  it('ships with the packages that it imports, and with no other', () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const named = shipped.flatMap(([path]) => specifiers.get(path)!).filter((s) => !/^(\.|node:)/.test(s));
    const packages = new Set(named.map((s) => s.match(/^(@[^/]+\/)?[^/]+/)![0]));
    // Its headers are what the addon is compiled with.
    packages.add('node-addon-api');
    expect(Object.keys(dependencies).sort()).toEqual([...packages].sort());
  });
});
