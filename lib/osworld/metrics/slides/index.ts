import type { AccessibleNode } from '../../../guest/guest.ts';
import { isFile } from '../../context.ts';
import type { Metric, MetricInput } from '../../kinds.ts';
import { nodesOf } from '../../tree.ts';

/** Readers of presentations and XML are loaded when a task needs them. */
const decks = (name: keyof typeof import('./deck_checks.ts')): Metric => lazy(() => import('./deck_checks.ts'), name);
const settings = (name: keyof typeof import('./settings.ts')): Metric => lazy(() => import('./settings.ts'), name);

function lazy<Name extends string>(
  load: () => Promise<Record<Name, (input: MetricInput) => number>>,
  name: Name,
): Metric {
  return async (input) => (await load())[name](input);
}

/** 1 when the slides' panel is open: it is a document frame of its own in the accessibility tree. */
const checkLeftPanel: Metric = async ({ result }) => {
  if (result === null || result === undefined) return 0;
  if (isFile(result)) return (await import('./panel.ts')).hasPanelIn(result);
  const nodes = [...nodesOf(result as AccessibleNode)];
  return Number(nodes.some(({ role, name }) => role === 'document-frame' && name === 'Slides View'));
};

/** The metrics of presentations and of LibreOffice's settings. */
export const slideMetrics: Record<string, Metric> = {
  compare_pptx_files: decks('comparePresentations'),
  check_image_stretch_and_center: decks('checkStretchedImage'),
  check_slide_orientation_Portrait: decks('checkPortrait'),
  check_strikethrough: decks('checkStrikethrough'),
  check_transition: decks('checkTransition'),
  evaluate_presentation_fill_to_rgb_distance: lazy(() => import('./colours.ts'), 'scoreBackgrounds'),
  check_slide_numbers_color: lazy(() => import('./colours.ts'), 'checkSlideNumbersColour'),
  check_page_number_colors: lazy(() => import('./page_numbers.ts'), 'checkPageNumbers'),
  check_presenter_console_disable: settings('checkPresenterConsole'),
  check_auto_saving_time: settings('checkAutoSaving'),
  check_libre_locale: settings('checkLocale'),
  check_left_panel: checkLeftPanel,
};
