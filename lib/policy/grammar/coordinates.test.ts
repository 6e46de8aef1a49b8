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

describe('toScreen', () => {
  it('maps each convention onto pixels', () => {
    expect(toScreen({ x: 100, y: 50 }, fullHd, 'absolute')).toEqual({ x: 100, y: 50 });
    expect(toScreen({ x: 500, y: 250 }, fullHd, 'relative')).toEqual({ x: 960, y: 270 });
    // 966/1932 and 546/1092 are halves
    expect(toScreen({ x: 966, y: 546 }, fullHd, 'smart-resize')).toEqual({ x: 960, y: 540 });
  });

  it('stays inside the screen', () => {
    expect(toScreen({ x: -5, y: 5000 }, fullHd, 'absolute')).toEqual({ x: 0, y: 1079 });
    expect(toScreen({ x: 1000, y: 1000 }, fullHd, 'relative')).toEqual({ x: 1919, y: 1079 });
  });
});
