import type { Action } from '../guest/guest.ts';
import type { BenchMetric } from '../stream/bench.ts';
import { EmbeddedDesktop } from './desktop.ts';
import { HEIGHT, WIDTH } from './screen/cells.ts';
import { hash } from './session/random.ts';

const STEPS = 12_000;
/** Actions between two resets: a long episode. */
const EPISODE = 15;

/** A mix of what policies do: mostly clicks anywhere, some typing, keys and scrolling. */
function actionAt(index: number): Action {
  const draw = (label: string, n: number) => hash(index, label) % n;
  const place = { x: draw('x', WIDTH), y: draw('y', HEIGHT) };
  const kind = draw('kind', 20);
  if (kind < 10) return { type: 'click', ...place };
  if (kind < 13) return { type: 'double_click', ...place };
  if (kind < 15) return { type: 'right_click', ...place };
  if (kind < 17) return { type: 'type', text: 'pear.txt' };
  if (kind < 19) return { type: 'hotkey', keys: draw('key', 2) ? ['enter'] : ['ctrl', 's'] };
  return { type: 'scroll', ...place, direction: 'down' };
}

function secondsOf(run: () => void): number {
  const start = process.hrtime.bigint();
  run();
  return Number(process.hrtime.bigint() - start) / 1e9;
}

function steps(desktop: EmbeddedDesktop): void {
  for (let i = 0; i < STEPS; i++) {
    if (i % EPISODE === 0) desktop.reset(i);
    desktop.act(actionAt(i));
  }
}

/** Steps a second with drawing and without PNG, resets, accessibility trees and PNGs; one core. */
export async function bench(): Promise<BenchMetric[]> {
  const desktop = new EmbeddedDesktop(1);
  secondsOf(() => steps(desktop));
  const stepping = secondsOf(() => steps(desktop));
  const resets = secondsOf(() => {
    for (let i = 0; i < 2000; i++) desktop.reset(i);
  });
  const pngs = secondsOf(() => {
    for (let i = 0; i < 500; i++) {
      desktop.reset(i);
      desktop.png();
    }
  });
  desktop.launch(['thunderbird']);
  const trees = secondsOf(() => {
    for (let i = 0; i < 2000; i++) desktop.accessibility();
  });
  return [
    { name: 'desktop/steps', value: STEPS / stepping, unit: 'steps/s' },
    { name: 'desktop/reset', value: (resets / 2000) * 1e3, unit: 'ms' },
    { name: 'desktop/png', value: ((pngs - resets / 4) / 500) * 1e3, unit: 'ms' },
    { name: 'desktop/accessibility', value: (trees / 2000) * 1e3, unit: 'ms' },
  ];
}
