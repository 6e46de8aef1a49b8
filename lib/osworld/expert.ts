import { z } from 'zod';
import { DartError } from '../errors.ts';
import type { AccessibleNode, Action } from '../guest/guest.ts';
import type { Task } from '../stream/records.ts';
import { nodesOf } from './tree.ts';

/**
 * An expert is data: steps that name a widget by role and name, found in the accessibility tree, so that the same form
 * works on every guest (design §5). It travels in the task JSON under `expert`, which OSWorld ignores.
 */
const targetSchema = z.strictObject({
  /** AT-SPI role with hyphens. */
  role: z.string().min(1),
  /** The whole accessible name. */
  name: z.string(),
  /** Which of several alike, in tree order, from 0. */
  nth: z.number().int().nonnegative().optional(),
});

export const expertStepSchema = z
  .strictObject({
    action: z.enum([
      'click',
      'double_click',
      'right_click',
      'drag',
      'scroll',
      'type',
      'hotkey',
      'wait',
      'finished',
      'fail',
    ]),
    target: targetSchema.optional(),
    /** Where a drag ends. */
    to: targetSchema.optional(),
    text: z.string().min(1).optional(),
    keys: z.array(z.string().min(1)).min(1).optional(),
    direction: z.enum(['up', 'down', 'left', 'right']).optional(),
  })
  .superRefine((step, context) => {
    for (const field of NEEDS[step.action] ?? []) {
      if (step[field] === undefined) context.addIssue({ code: 'custom', message: `${step.action} needs ${field}` });
    }
  });

export type ExpertStep = z.infer<typeof expertStepSchema>;
export type ExpertTarget = z.infer<typeof targetSchema>;

const NEEDS: Partial<Record<string, ('target' | 'to' | 'text' | 'keys' | 'direction')[]>> = {
  click: ['target'],
  double_click: ['target'],
  right_click: ['target'],
  drag: ['target', 'to'],
  scroll: ['direction'],
  type: ['text'],
  hotkey: ['keys'],
};

/** The task's expert, null when it has none. Throws a DartError naming task and step where it is malformed. */
export function expertOf(task: Task): ExpertStep[] | null {
  if (task.expert === undefined || task.expert === null) return null;
  const parsed = z.array(expertStepSchema).min(1).safeParse(task.expert);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = issue?.path.map(String).join('.') ?? '';
  throw new DartError(`expert${field ? `.${field}` : ''}: ${issue?.message ?? 'not a list of steps'}`, {
    where: task.task_id,
  });
}

/**
 * One expert step as an action on the present screen. A target is clicked in the middle of its bounds.
 * Throws a DartError naming the widget when it is not showing.
 */
export function expertAction(step: ExpertStep, tree: AccessibleNode): Action {
  switch (step.action) {
    case 'click':
    case 'double_click':
    case 'right_click':
      return { type: step.action, ...centreOf(step.target, tree) };
    case 'drag': {
      const to = centreOf(step.to, tree);
      return { type: 'drag', ...centreOf(step.target, tree), to_x: to.x, to_y: to.y };
    }
    case 'scroll': {
      const place = step.target ? centreOf(step.target, tree) : {};
      return { type: 'scroll', ...place, direction: step.direction ?? 'down' };
    }
    case 'type':
      return { type: 'type', text: step.text ?? '' };
    case 'hotkey':
      return { type: 'hotkey', keys: step.keys ?? [] };
    default:
      return { type: step.action };
  }
}

/** Middle of the widget, whole pixels of the screen. */
function centreOf(target: ExpertTarget | undefined, tree: AccessibleNode): { x: number; y: number } {
  const bounds = target && findWidget(target, tree)?.bounds;
  if (bounds) {
    return { x: Math.floor(bounds.x + bounds.width / 2), y: Math.floor(bounds.y + bounds.height / 2) };
  }
  const name = target ? `${target.role} "${target.name}"${target.nth ? ` number ${target.nth}` : ''}` : 'no target';
  const alike = target ? namesOf(target.role, tree) : [];
  const hint = alike.length > 0 ? `one of the ${target?.role}s that show: ${alike.slice(0, 12).join(', ')}` : undefined;
  throw new DartError(`expert step: no ${name} is showing`, { hint });
}

/** The widget that a target names, among those that show, in tree order. */
export function findWidget(target: ExpertTarget, tree: AccessibleNode): AccessibleNode | undefined {
  const found = [...nodesOf(tree)].filter((node) => isShowing(node) && node.role === target.role);
  return found.filter((node) => node.name === target.name)[target.nth ?? 0];
}

function isShowing(node: AccessibleNode): boolean {
  return node.bounds !== undefined && node.states.includes('showing');
}

function namesOf(role: string, tree: AccessibleNode): string[] {
  return [...nodesOf(tree)].filter((node) => isShowing(node) && node.role === role).map((node) => node.name);
}
