import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { DriverKind } from './kind.ts';
import { KINDS, optionsOf } from './kinds.ts';
import { desktopRequest, parseDesktops } from './request.ts';

describe('parseDesktops', () => {
  it('reads a kind, a count and options', () => {
    const { kind, count, values } = parseDesktops('embedded:2,latency=300,jitter=0.5,reset=2000,evaluate=500');
    expect([kind.name, count]).toEqual(['embedded', 2]);
    expect(values).toEqual({ latency: 300, jitter: 0.5, reset: 2000, evaluate: 500 });
    expect(parseDesktops('embedded:16').values).toEqual({ latency: 0, jitter: 0, reset: 0, evaluate: 0 });
  });

  it('takes URLs where desktops run already, and waits in seconds', () => {
    const request = parseDesktops('attach:http://a:5000,http://:secret@b:5000,after-reset=5,before-evaluate=0.5');
    expect([request.kind.name, request.count]).toEqual(['attach', 2]);
    expect(request.values).toMatchObject({ url: ['http://a:5000', 'http://:secret@b:5000'] });
    expect(request.waits).toEqual({ afterResetMs: 5000, beforeEvaluateMs: 500 });
  });

  it.each([
    ['embeded:4', '--env: unknown desktops "embeded"'],
    ['embedded', '--env: "embedded" does not say how many desktops'],
    ['embedded:0', '--env: expected 1 to 10000 desktops but received "embedded:0". Try: embedded:4, or docker:8'],
    ['embedded:2:3', '--env: "embedded:2:3" does not say how many desktops'],
    ['embedded:10001', '--env: expected 1 to 10000 desktops but received "embedded:10001"'],
    ['docker:10001,spares=2', '--env: expected 1 to 10000 desktops but received "docker:10001"'],
    ['embedded:many', '--env: "embedded:many" does not say how many desktops'],
    ['embedded:2,latency=-1', "--env embedded, latency: expected a number, 0 to 86400000, but received '-1'"],
    ['embedded:2,jitter=2', "--env embedded, jitter: expected a number, 0 to 1, but received '2'"],
    ['embedded:2,jitter=', "--env embedded, jitter: expected a number, 0 to 1, but received ''"],
    ['embedded:2,speed=1', '--env: embedded has no option "speed". Try: latency, reset, evaluate, jitter'],
    ['embedded:2,latency', '--env: "latency" needs a value. Try: latency=MS'],
    ['embedded:2,latency=1,latency=2', '--env: "latency" is given twice'],
    ['attach:', '--env: attach names no desktop. Try: attach:http://127.0.0.1:5000'],
    ['attach:a:5000', '--env: attach names no desktop'],
  ])('refuses %s', (spec, message) => {
    expect(() => parseDesktops(spec)).toThrow(expect.objectContaining({ name: 'DartError' }));
    let said = '';
    try {
      parseDesktops(spec);
    } catch (error) {
      said = (error as { describe: () => string }).describe();
    }
    expect(said).toContain(message);
  });

  it('repeats no token of a URL', () => {
    expect(() => parseDesktops('attach:http//:secret@b:5000')).toThrow(/^attach names no desktop$/);
  });
});

const kind: DriverKind = {
  name: 'made-up',
  summary: 'For this test',
  options: [
    { name: 'memory', type: 'bytes', default: 2 ** 30, describe: 'How much' },
    { name: 'gpu', type: 'boolean', default: false, describe: 'With one' },
    { name: 'label', type: 'list', describe: 'Some' },
    { name: 'profile', type: 'string', choices: ['desktop', 'osworld'], default: 'desktop', describe: 'Which' },
  ],
  detachable: true,
  open: () => Promise.reject(new Error('never')),
};
const made = (given: Record<string, string | string[]>) =>
  desktopRequest(kind, 1, new Map(Object.entries(given)), (name) => `--${name}`);

describe('desktopRequest', () => {
  it('reads every type, and leaves out what has neither value nor default', () => {
    expect(made({}).values).toEqual({ memory: 2 ** 30, gpu: false, profile: 'desktop', spares: 0 });
    const given = { memory: '1.5g', gpu: 'true', label: ['a', 'b'], profile: 'osworld' };
    expect(made(given).values).toEqual({
      memory: 1.5 * 2 ** 30,
      gpu: true,
      label: ['a', 'b'],
      profile: 'osworld',
      spares: 0,
    });
    expect(made({ memory: '512m' }).values.memory).toBe(512 * 2 ** 20);
  });

  it('gives desktops that boot spares, and a limit of boots at once', () => {
    expect(made({ spares: '2', parallel: '3' })).toMatchObject({ spares: 2, starts: 3, waits: {} });
    expect(made({}).spares).toBe(0);
    expect(made({}).starts).toBeGreaterThan(0);
    expect(parseDesktops('embedded:4')).toMatchObject({ spares: 0, starts: Number.POSITIVE_INFINITY });
  });

  it.each([
    [{ memory: 'much' }, "--memory: expected a size such as 512m or 4g but received 'much'"],
    [{ gpu: 'perhaps' }, "--gpu: expected true or false but received 'perhaps'"],
    [{ profile: 'x' }, "--profile: expected one of desktop, osworld but received 'x'"],
    [{ 'after-reset': '-1' }, "--after-reset: expected a number, at least 0, but received '-1'"],
  ])('refuses %j', (given, message) => {
    expect(() => made(given)).toThrow(expect.objectContaining({ message: message.split(': ').at(-1) }));
  });
});

describe('the tables of the kinds', () => {
  it.each(KINDS.map((known) => [known.name, known] as const))(
    '%s: each option once, its default among its values',
    (name, known) => {
      const options = optionsOf(known);
      expect(new Set(options.map((option) => option.name)).size).toBe(options.length);
      const given = new Map(
        options.flatMap((option) =>
          option.default === undefined || option.type === 'list' ? [] : [[option.name, option.default] as const],
        ),
      );
      expect(() => desktopRequest(known, 1, given, String)).not.toThrow();
      for (const option of options) expect(option.name, name).toMatch(/^[a-z][a-z0-9-]*$/);
    },
  );
});

describe('the files of the kinds', () => {
  it('load nothing but tables: help has to come at once', () => {
    const files = ['attach_kind', 'embedded_kind', 'docker/kind', 'kubernetes/kind', 'xvfb/kind'];
    expect(files).toHaveLength(KINDS.length);
    for (const file of files) {
      const text = readFileSync(new URL(`./${file}.ts`, import.meta.url), 'utf8');
      const loaded = [...text.matchAll(/^import (?!type)[^;]*? from '([^']+)'/gm)].map(([, path]) => path!);
      expect(
        loaded.filter((path) => path !== './environment.ts'),
        file,
      ).toEqual([]);
    }
  });
});
