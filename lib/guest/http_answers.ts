import { z } from 'zod';
import type { DirectoryTree, ExecuteResult, GuestWindow } from './guest.ts';

/** What OSWorld's server answers, as far as it is looked at; what it leaves out or sends as null has its plain value. */
export const sizeAnswer = z.object({ width: z.number().int().positive(), height: z.number().int().positive() });

const words = z
  .string()
  .nullish()
  .transform((text) => text ?? '');
const exitStatus = z
  .number()
  .nullish()
  .transform((status) => status ?? 0);

export const executeAnswer = z
  .looseObject({ output: words, error: words, returncode: exitStatus })
  .transform(({ output, error, returncode }): ExecuteResult => ({ output, error, returncode }));

export const pythonAnswer = z
  .looseObject({ output: words, error: words, return_code: exitStatus })
  .transform(({ output, error, return_code }): ExecuteResult => ({ output, error, returncode: return_code }));

export const treeAnswer = z.looseObject({ AT: z.string() }).transform(({ AT }) => AT);

export const terminalAnswer = z.looseObject({ output: z.string().nullable() }).transform(({ output }) => output);

export const desktopPathAnswer = z
  .looseObject({ desktop_path: z.string() })
  .transform(({ desktop_path }) => desktop_path);

export const pointAnswer = z.tuple([z.number(), z.number()]);

export const windowsAnswer = z
  .array(z.looseObject({ title: z.string(), wm_class: z.string() }))
  .transform((windows) => windows.map(({ title, wm_class }): GuestWindow => ({ title, wmClass: wm_class })));

/** OSWorld's server puts `{error}` in the place of a folder that it may not read: left out here. */
const entry: z.ZodType<DirectoryTree> = z.object({
  type: z.enum(['directory', 'file']),
  name: z.string(),
  get children() {
    return z.preprocess(readable, z.array(entry)).optional();
  },
});
const readable = (children: unknown) =>
  Array.isArray(children) ? children.filter((child) => !Object.hasOwn(child ?? {}, 'error')) : children;

export const directoryAnswer = z
  .looseObject({ directory_tree: entry })
  .transform(({ directory_tree }) => directory_tree);

/** Lines of `wmctrl -l -x`: window, workspace, class, host, title. */
export function readWindowList(text: string): GuestWindow[] {
  const lines = text.matchAll(/^0x\w+ +-?\d+ +(\S+) +\S+ ?(.*)$/gm);
  return [...lines].map(([, wmClass = '', title = '']) => ({ title, wmClass }));
}
