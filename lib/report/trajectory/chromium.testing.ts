import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { orSkip } from '../../stream/shared.testing.ts';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Path of a Chromium, or null where there is none: use with `describe.skipIf`. */
export const chromiumPath: string | null = orSkip(
  'chromium',
  [process.env.CHROMIUM ?? '', ...PLACES].find((path) => path !== '' && existsSync(path)) ?? null,
  `there is no ${PLACES[0]}`,
);

/** A headless browser. Its sandbox wants a user that is not root, which containers rarely have. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath!, args: ['--no-sandbox'] });
}
