import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toPyautogui } from '../../lib/guest/pyautogui.ts';
import type { Action } from '../../lib/stream/action.ts';
import type { BlobStore } from '../../lib/stream/blobs.ts';
import type { Trajectory } from '../../lib/stream/records.ts';

const WORDS: Partial<Record<Action['type'], string>> = { finished: 'DONE', fail: 'FAIL', wait: 'WAIT' };

/**
 * Writes a trajectory the way OSWorld's runner leaves one of an agent that speaks pyautogui: the reply is code in a
 * fence, the screen is saved after each action, the first screen not at all.
 */
export function writeOsworldResult(results: string, agent: string, trajectory: Trajectory, blobs: BlobStore): void {
  const { domain, task_id, steps, reward } = trajectory;
  const folder = join(results, 'pyautogui', 'screenshot', agent, domain, task_id);
  mkdirSync(folder, { recursive: true });
  const lines = steps.flatMap((step, index) =>
    step.actions.map((action) => {
      const seen = (steps[index + 1] ?? step).observation.screenshot.sha256;
      const action_timestamp = `20250925@1000${String(index).padStart(2, '0')}`;
      const screenshot_file = `step_${index + 1}_${action_timestamp}.png`;
      writeFileSync(join(folder, screenshot_file), blobs.readSync(seen));
      const code = WORDS[action.type] ?? toPyautogui(action);
      const response = `\`\`\`python\n${code}\n\`\`\``;
      const done = index === steps.length - 1;
      return {
        step_num: index + 1,
        action_timestamp,
        action: code,
        response,
        reward: 0,
        done,
        info: {},
        screenshot_file,
      };
    }),
  );
  writeFileSync(join(folder, 'traj.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  writeFileSync(join(folder, 'result.txt'), `${reward}\n`);
}
