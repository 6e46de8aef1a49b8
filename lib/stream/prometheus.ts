/** The content type of the text below: Prometheus's text format, version 0.0.4. */
export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export type Labels = Readonly<Record<string, string | number>>;

export interface PrometheusSample {
  labels?: Labels;
  /** Null: not known, and then the sample is left out, since 0 would be a claim. NaN and infinities are the format's own. */
  value: number | null;
}

/** All samples of one name. */
export interface PrometheusMetric {
  /** `dart_rollout_steps_total`: a unit as its last word, counters end in `_total`. */
  name: string;
  /** `counter` only ever grows; `gauge` goes up and down. */
  type: 'counter' | 'gauge';
  /** One sentence for people. */
  help: string;
  samples: readonly PrometheusSample[];
}

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL_NAME = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/;

/**
 * Metrics as Prometheus reads them: `# HELP`, `# TYPE`, one line a sample. A metric without samples is still described.
 * @throws RangeError for a name that the format forbids, a counter that does not end in `_total`, a name that comes
 * twice, or two samples with the same labels: Prometheus would refuse the whole page for each of them.
 */
export function prometheusText(metrics: readonly PrometheusMetric[]): string {
  const names = new Set<string>();
  return metrics.map((metric) => describe(metric, names)).join('');
}

/** A metric with one sample and no labels. */
export function single(
  name: string,
  type: PrometheusMetric['type'],
  help: string,
  value: number | null,
): PrometheusMetric {
  return { name, type, help, samples: [{ value }] };
}

/** A metric with one sample for each entry of a map, told apart by one label. */
export function byLabel(
  name: string,
  type: PrometheusMetric['type'],
  help: string,
  label: string,
  values: Iterable<readonly [string, number | null]>,
): PrometheusMetric {
  return { name, type, help, samples: [...values].map(([key, value]) => ({ labels: { [label]: key }, value })) };
}

function describe({ name, type, help, samples }: PrometheusMetric, names: Set<string>): string {
  if (!METRIC_NAME.test(name)) throw new RangeError(`"${name}" is no name of a metric`);
  if (type === 'counter' && !name.endsWith('_total')) throw new RangeError(`counter ${name} does not end in _total`);
  claim(name, names);
  const series = new Set<string>();
  const lines = [`# HELP ${name} ${escaped(help, /[\\\n]/g)}`, `# TYPE ${name} ${type}`];
  for (const { labels, value } of samples) {
    if (value === null) continue;
    const one = `${name}${labelText(labels)}`;
    claim(one, series);
    lines.push(`${one} ${number(value)}`);
  }
  return `${lines.join('\n')}\n`;
}

function claim(name: string, taken: Set<string>): void {
  if (taken.has(name)) throw new RangeError(`${name} comes twice`);
  taken.add(name);
}

function labelText(labels: Labels = {}): string {
  const pairs = Object.entries(labels).map(([name, value]) => {
    if (!LABEL_NAME.test(name)) throw new RangeError(`"${name}" is no name of a label`);
    return `${name}="${escaped(String(value), /[\\\n"]/g)}"`;
  });
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(text: string, special: RegExp): string {
  return text.replace(special, (character) => (character === '\n' ? '\\n' : `\\${character}`));
}

function number(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  return String(value);
}
