import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { orSkip } from '../../stream/shared.testing.ts';
import { findProgram, installHint, missingPrograms } from './machine.ts';

function findXvfb(): string | null {
  const programs = ['mousepad', 'lxterminal', 'feh', 'ffmpeg', 'xclip', 'xdg-open', 'file'];
  const missing = [...missingPrograms(), ...programs.filter((name) => findProgram(name) === null)];
  const hint = `${installHint()} mousepad lxterminal`;
  return orSkip('xvfb', missing.length === 0 ? 'Xvfb' : null, `there is no ${missing.join(', ')} (${hint})`);
}

/** What a desktop under Xvfb and its tests need, or null where it is absent: use with `describe.skipIf(!xvfb)`. */
export const xvfb: string | null = findXvfb();

/** A skeleton of a home in which text is for the editor, whatever else the machine has. */
export function editorSkeleton(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dart-skeleton-'));
  const list = '[Default Applications]\ntext/plain=org.xfce.mousepad.desktop\n';
  mkdirSync(join(folder, '.config'));
  writeFileSync(join(folder, '.config', 'mimeapps.list'), list);
  writeFileSync(join(folder, 'Desktop-note.txt'), 'from the skeleton\n');
  return folder;
}

/** Processes that carry a desktop's mark, as `PID command line`. */
export function processesOf(id: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const marked = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`DART_DESKTOP=${id}`);
        return marked ? [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')}`] : [];
      } catch {
        return [];
      }
    });
}

/** Sends a signal to those of a desktop's processes whose command line has the word. */
export function killCore(id: string, word: string, signal: NodeJS.Signals = 'SIGKILL'): void {
  const found = processesOf(id).filter((line) => line.includes(word));
  if (found.length === 0) throw new Error(`no ${word} among ${processesOf(id).join('\n')}`);
  for (const line of found) process.kill(Number.parseInt(line, 10), signal);
}

/** Processes whose command line, words apart by NUL, has the text; but for this one and the desktop's own. */
export function pidsWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        const marked = readFileSync(`/proc/${pid}/environ`, 'utf8').includes('DART_DESKTOP=');
        return !marked && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text);
      } catch {
        return false;
      }
    })
    .map(Number);
}
