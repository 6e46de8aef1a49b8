import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DartError } from '../../errors.ts';
import type { Size } from '../guest.ts';
import { UserFiles } from './files.ts';
import type { Programs } from './programs.ts';

const RATE = 30;
/** How long ffmpeg may take to end a file, ms. */
const END_MS = 60_000;

/** Records the screen by ffmpeg, 30 frames a second, as OSWorld's server does. */
export class Recorder {
  readonly #where: string;
  #running: { child: ChildProcess; over: Promise<string>; path: string; programs: Programs } | null = null;

  constructor(where: string) {
    this.#where = where;
  }

  /** @throws DartError where it records already, or there is no ffmpeg. `folder` is one that the user can write to. */
  async start(programs: Programs, display: string, size: Size, folder: string): Promise<void> {
    if (this.#running && this.#running.child.exitCode === null) throw this.#error('a recording runs already');
    const path = join(folder, `${randomBytes(8).toString('hex')}.mp4`);
    const input = ['-f', 'x11grab', '-draw_mouse', '1', '-framerate', `${RATE}`];
    const area = ['-video_size', `${size.width}x${size.height}`, '-i', display];
    const output = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-movflags', '+faststart', path];
    // yuv420p wants even sides.
    const even = ['-vf', 'pad=ceil(iw/2)*2:ceil(ih/2)*2'];
    const argv = ['ffmpeg', '-y', '-loglevel', 'error', ...input, ...area, ...even, ...output];
    const child = programs.spawn(argv, { stdio: ['pipe', 'ignore', 'pipe'] });
    child.stdin!.on('error', () => {});
    let complaint = '';
    child.stderr!.on('data', (data: Buffer) => {
      complaint = (complaint + data.toString()).slice(-1000);
    });
    const over = new Promise<string>((resolve) => child.once('close', () => resolve(complaint.trim())));
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (cause) =>
        reject(
          new DartError('there is no ffmpeg to record with', {
            where: this.#where,
            hint: 'apt-get install ffmpeg',
            cause,
          }),
        ),
      );
    });
    this.#running = { child, over, path, programs };
  }

  /** Ends the recording. @returns the MP4 file */
  async end(): Promise<Uint8Array> {
    const running = this.#running;
    if (!running) throw this.#error('no recording runs');
    this.#running = null;
    running.child.stdin!.end('q');
    const timer = setTimeout(() => running.child.kill('SIGKILL'), END_MS);
    const complaint = await running.over;
    clearTimeout(timer);
    // As the user: the file lies where the user could have put something else in its place.
    const bytes = await new UserFiles(running.programs, this.#where).read(running.path);
    await running.programs.run(['rm', '-f', running.path]);
    if (bytes !== null && bytes.length > 0) return bytes;
    throw this.#error(`ffmpeg has made no file: ${complaint || 'it was killed'}`);
  }

  /** Forgets it: its process and folder are removed with the session. */
  drop(): void {
    this.#running = null;
  }

  #error(message: string): DartError {
    return new DartError(message, { where: this.#where });
  }
}
