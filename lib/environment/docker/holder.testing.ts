import { openDocker } from './driver.ts';
import { dockerValues } from './values.testing.ts';

/** A process of a test that starts desktops, prints `ready`, and holds them until it is killed: RUN COUNT [detach]. */
const [run = '', count = '1', detach] = process.argv.slice(2);
const driver = await openDocker(Number(count), dockerValues(), { runId: run, detach: detach === 'detach' });
await Promise.all(Array.from({ length: Number(count) }, (_, place) => driver.start(place, `${run}-${place}`)));
process.stdout.write('ready\n');
setInterval(() => {}, 60_000);
