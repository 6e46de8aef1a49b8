import { DartError } from '../../errors.ts';
import { PYTHON_HINT, pipLine } from './failure.ts';

/** What a Python has of what the torch engine needs. */
export interface PythonFound {
  /** One line for people: the versions. */
  text: string;
  /** CUDA devices; null where nobody looked. */
  gpus: number | null;
}

const NEEDED = ['torch', 'torchvision', 'transformers', 'safetensors', 'PIL', 'numpy'];

/** Versions are read from the packages' metadata: importing them all takes ten seconds. */
const SCRIPT = `
import importlib.util, importlib.metadata, json, sys
names, count = sys.argv[2:], sys.argv[1] == 'count'
missing = [name for name in names if importlib.util.find_spec(name) is None]
def version(name):
    try: return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError: return None
gpus = None
if count and not missing:
    import torch
    gpus = torch.cuda.device_count()
versions = {name: version(name) for name in ('torch', 'transformers', 'peft')}
print(json.dumps({'python': sys.version.split()[0], 'missing': missing, 'versions': versions, 'gpus': gpus}))
`;

const LIMIT_MS = 120_000;

interface Answer {
  python: string;
  missing: string[];
  versions: Record<string, string | null>;
  gpus: number | null;
}

/**
 * Looks whether a Python is there and has the packages.
 * @param wanted `peft`: adapters are trained; `gpus`: they are to be counted, for which torch is imported.
 * @throws DartError with the line that installs what is missing.
 */
export async function checkPython(
  python: string,
  env: Readonly<Record<string, string | undefined>>,
  wanted: { peft: boolean; gpus: boolean },
): Promise<PythonFound> {
  const { execa } = await import('execa');
  const names = [...NEEDED, ...(wanted.peft ? ['peft'] : [])];
  const args = ['-c', SCRIPT, wanted.gpus ? 'count' : 'look', ...names];
  const end = await execa(python, args, {
    ...{ reject: false, extendEnv: false, env: env as Record<string, string>, timeout: LIMIT_MS, stdin: 'ignore' },
  });
  if (end.failed) {
    const reason = end.stderr?.trim().split('\n').at(-1) || (end.originalMessage ?? 'it ended by an error');
    throw new DartError(`Python does not start: ${reason}`, { where: python, hint: PYTHON_HINT });
  }
  const { missing, versions, gpus, ...found } = JSON.parse(end.stdout.trim().split('\n').at(-1)!) as Answer;
  if (missing.length > 0) {
    const hint = `${python} -m ${pipLine(missing)}; or ${PYTHON_HINT}`;
    throw new DartError(`this Python has no ${missing.join(', ')}`, { where: python, hint });
  }
  const shown = Object.entries(versions).flatMap(([name, version]) => (version === null ? [] : [`${name} ${version}`]));
  return { text: `Python ${found.python}, ${shown.join(', ')}`, gpus };
}
