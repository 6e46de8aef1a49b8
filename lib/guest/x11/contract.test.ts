import { rmSync } from 'node:fs';
import { describe } from 'vitest';
import { describeGuestServer } from '../contract.testing.ts';
import { startGuest } from './program.ts';
import { editorSkeleton, xvfb } from './xvfb.testing.ts';

describe.skipIf(!xvfb)('a desktop under Xvfb', () => {
  describeGuestServer('the X11 guest', async () => {
    const skeleton = editorSkeleton();
    const running = await startGuest({ id: 'contract', port: 0, size: { width: 1024, height: 768 }, skeleton });
    return {
      url: running.env.server_url!,
      close: async () => {
        await running.close();
        rmSync(skeleton, { recursive: true, force: true });
      },
    };
  });
});
