import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../lib/cli/paths.ts';
import { messageOf } from '../../lib/errors.ts';
import { writeWhole } from '../../lib/stream/files.ts';
import { generatedFiles } from './files.ts';

/** `make docs`: writes what has changed of the generated pages under `docs/`. */
async function writeDocs(): Promise<void> {
  for (const [name, text] of generatedFiles()) {
    const path = join(packageRoot(), 'docs', name);
    if (existsSync(path) && readFileSync(path, 'utf8') === text) continue;
    await writeWhole(path, text);
    process.stderr.write(`docs: wrote docs/${name}\n`);
  }
}

writeDocs().catch((error) => {
  process.stderr.write(`docs: ${messageOf(error)}\n`);
  process.exitCode = 2;
});
