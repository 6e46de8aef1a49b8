import { DOMParser } from '@xmldom/xmldom';
import { describe, expect, it } from 'vitest';
import { curvesSvg } from './curves.ts';

const svg = curvesSvg({
  title: 'Success & time',
  x: 'seconds',
  y: 'success',
  yMax: 1,
  curves: [
    {
      name: 'plain',
      points: [
        { x: 100, y: 0.5, low: 0.4, high: 0.6 },
        { x: 0, y: 0 },
      ],
    },
    { name: '<full>', points: [{ x: 50, y: 1 }], dashed: true },
  ],
});

describe('curvesSvg', () => {
  it('has each point where it belongs, with its numbers', () => {
    // The plot is 480 wide from 60 and 325 high up from 365; the x axis ends at 100.
    expect(svg).toContain('<circle cx="540" cy="202.5" r="3" fill="#0072b2"><title>plain: 100, 0.5</title>');
    expect(svg).toContain('<circle cx="60" cy="365" r="3" fill="#0072b2"><title>plain: 0, 0</title>');
    expect(svg).toContain('<circle cx="300" cy="40" r="3" fill="#d55e00"><title>&lt;full&gt;: 50, 1</title>');
  });

  it('joins them in the order of x, with a bar where there is an interval', () => {
    expect(svg).toContain('d="M60 365L540 202.5"');
    expect(svg).toContain('d="M540 235V170"');
    expect(svg.match(/stroke-dasharray/g)).toHaveLength(2);
  });

  it('puts numbers that double at equal distances', () => {
    const points = [8, 16, 32].map((x) => ({ x, y: x }));
    const places = curvesSvg({ title: '', x: '', y: '', curves: [{ name: 'a', points }], logX: true });
    expect([...places.matchAll(/<circle cx="([\d.]+)"/g)].map((match) => match[1])).toEqual(['60', '300', '540']);
  });

  it('goes below 0 where a point does', () => {
    const points = [-2, 0, 1].map((y, x) => ({ x, y, low: y - 5, high: y }));
    const below = curvesSvg({ title: '', x: '', y: '', curves: [{ name: 'a', points }] });
    // Ticks from -2 to 1: 325 high, a third of it for each unit; bars end where the plot does.
    expect([...below.matchAll(/<circle cx="[\d.]+" cy="([\d.]+)"/g)].map((match) => match[1])).toEqual([
      '365',
      '148.3',
      '40',
    ]);
    expect(below).toContain('<path d="M60 148.3H540" stroke="#333333"/>');
    expect(below).toContain('d="M540 365V40"');
  });

  it.each([
    [[-1e308, 0, 1e308], ['365', '202.5', '40'], '1e+308'],
    [[-1.7e308, 1.7e308], ['356.2', '48.8'], '1.79769313486e+308'],
  ])('has a place for %j', (ys, places, label) => {
    const points = ys.map((y, x) => ({ x, y }));
    const large = curvesSvg({ title: '', x: '', y: '', curves: [{ name: 'a', points }] });
    expect([...large.matchAll(/<circle cx="[\d.]+" cy="([\d.]+)"/g)].map((match) => match[1])).toEqual(places);
    expect(large).toContain(`>${label}</text>`);
    expect(large).not.toMatch(/NaN|Infinity/);
  });

  it('has ticks at whole numbers only, where x counts something', () => {
    const ticks = (x: number, wholeX: boolean) => {
      const picture = curvesSvg({ title: '', x: '', y: '', curves: [{ name: 'a', points: [{ x, y: 1 }] }], wholeX });
      return [...picture.matchAll(/y="383" text-anchor="middle">([^<]+)</g)].map((match) => match[1]);
    };
    expect(ticks(1, true)).toEqual(['0', '1']);
    expect(ticks(3, true)).toEqual(['0', '1', '2', '3']);
    expect(ticks(1, false)).toEqual(['0', '0.2', '0.4', '0.6', '0.8', '1']);
    expect(ticks(40, true)).toEqual(ticks(40, false));
  });

  it('draws small dots where there are many', () => {
    const points = Array.from({ length: 61 }, (_, x) => ({ x, y: 1 }));
    expect(curvesSvg({ title: '', x: '', y: '', curves: [{ name: 'a', points }] })).toContain('r="1"');
    expect(svg).not.toContain('r="1"');
  });

  it('is one well-formed document', () => {
    const said: string[] = [];
    const parser = new DOMParser({ onError: (_, message) => void said.push(message) });
    expect(parser.parseFromString(svg, 'image/svg+xml').getElementsByTagName('circle').length).toBe(3);
    expect(said).toEqual([]);
  });
});
