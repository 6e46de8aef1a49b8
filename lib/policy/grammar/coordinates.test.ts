import { describe, expect, it } from 'vitest';
import { smartResize, toScreen } from './coordinates.ts';

const fullHd = { width: 1920, height: 1080 };

describe('smartResize', () => {
  it.each([
    // 1920/28 = 68.57 → 69 · 28; 1080/28 = 38.57 → 39 · 28
    [1920, 1080, 1932, 1092],
    [1280, 720, 1288, 728],
    // 19,200 pixels are fewer than 100 · 28² = 78,400: grown by √(78400/19200) = 2.0207, then up to the next 28
    [160, 120, 336, 252],
    // 42/28 = 1.5 and 70/28 = 2.5 round to the even 2; still too few pixels, so grown from 42 × 70
    [42, 70, 224, 364],
    // 5600 × 4200 is above 16384 · 28²: shrunk by √(23520000/12845056) = 1.3532, then down to 28
    [5600, 4200, 4116, 3080],
  ])('%i × %i → %i × %i', (width, height, w, h) => expect(smartResize(width, height)).toEqual({ width: w, height: h }));
});

describe('smartResize with other limits', () => {
  it('keeps to them', () => {
    // 1932 · 1092 = 2,109,744 is above 1,000,000: shrunk by √(2073600/1000000) = 1.44 to 1333 × 750, then down to 28
    expect(smartResize(1920, 1080, { min: 78_400, max: 1_000_000 })).toEqual({ width: 1316, height: 728 });
    // the limit of ARPO, 2,116,800, leaves full HD as it is
    expect(smartResize(1920, 1080, { min: 78_400, max: 2_116_800 })).toEqual({ width: 1932, height: 1092 });
    const pixels = { min: 78_400, max: 1_000_000 };
    const convention = { screen: fullHd, coordinates: 'smart-resize', pixels } as const;
    expect(toScreen({ x: 658, y: 364 }, convention)).toEqual({ x: 960, y: 540 });
  });
});

describe('toScreen', () => {
  it('maps each convention onto pixels', () => {
    expect(toScreen({ x: 100, y: 50 }, { screen: fullHd, coordinates: 'absolute' })).toEqual({ x: 100, y: 50 });
    expect(toScreen({ x: 500, y: 250 }, { screen: fullHd, coordinates: 'relative' })).toEqual({ x: 960, y: 270 });
    // 966/1932 and 546/1092 are halves
    expect(toScreen({ x: 966, y: 546 }, { screen: fullHd, coordinates: 'smart-resize' })).toEqual({ x: 960, y: 540 });
  });

  it('stays inside the screen', () => {
    expect(toScreen({ x: -5, y: 5000 }, { screen: fullHd, coordinates: 'absolute' })).toEqual({ x: 0, y: 1079 });
    expect(toScreen({ x: 1000, y: 1000 }, { screen: fullHd, coordinates: 'relative' })).toEqual({ x: 1919, y: 1079 });
  });
});
