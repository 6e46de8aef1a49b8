import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bashCompletion, zshCompletion } from '../../lib/cli/pages/completion.ts';
import { manPage } from '../../lib/cli/pages/man.ts';
import { markdownPage } from '../../lib/cli/pages/markdown.ts';
import { packageRoot, packageVersion } from '../../lib/cli/paths.ts';
import type { CommandSpec } from '../../lib/cli/spec.ts';
import { schemaFiles } from '../../lib/stream/jsonschema.ts';
import { settingsText } from '../ablation/programs.ts';
import { withSection } from '../ablation/report.ts';
import { spec as curate } from '../curate/spec.ts';
import { spec as env } from '../env/spec.ts';
import { spec as evaluate } from '../eval/spec.ts';
import { spec as rollout } from '../rollout/spec.ts';
import { spec as train } from '../train/spec.ts';

export const COMMANDS: readonly CommandSpec[] = [env, rollout, curate, train, evaluate];

/** Path under `docs/` and text of every page that is made from option tables and record schemas, wholly or in part. */
export function generatedFiles(): Map<string, string> {
  const files = new Map<string, string>();
  for (const spec of COMMANDS) {
    files.set(`commands/${spec.name}.md`, markdownPage(spec));
    files.set(`man/${spec.name}.1`, manPage(spec, packageVersion()));
  }
  files.set('completions/dart.bash', bashCompletion(COMMANDS));
  files.set('completions/_dart', zshCompletion(COMMANDS));
  for (const [name, text] of schemaFiles()) files.set(`schemas/${name}`, text);
  files.set('results.md', withSettings(readFileSync(join(packageRoot(), 'docs/results.md'), 'utf8')));
  return files;
}

/** The page with its words, options and variables of the experiments as they are now. */
function withSettings(page: string): string {
  return withSection(page, { name: 'settings', text: settingsText() });
}
