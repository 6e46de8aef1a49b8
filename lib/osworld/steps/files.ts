import { readAsset } from '../assets.ts';
import { Fields } from '../fields.ts';
import type { StepRunner } from '../kinds.ts';

/** `{files: [{url, path}]}`: puts files into the guest, from the assets folder or from `data:` URLs. */
const download: StepRunner = async (parameters, context) => {
  for (const [index, entry] of parameters.list('files').entries()) {
    const file = new Fields(`${parameters.owner}.files[${index}]`, parameters.where, entry);
    await context.guest.writeFile(file.text('path'), await readAsset(file.text('url'), context));
  }
};

/** `{path, content}`: our own step, for tasks that carry their files inside them. */
const writeFile: StepRunner = async (parameters, { guest }) => {
  await guest.writeFile(parameters.text('path'), Buffer.from(parameters.text('content'), 'utf8'));
};

/** `{path}`: opens a file in the application that it belongs to. */
const open: StepRunner = async (parameters, { guest }) => {
  await guest.openFile(parameters.text('path'));
};

export const fileSteps: Record<string, StepRunner> = { download, write_file: writeFile, open };
