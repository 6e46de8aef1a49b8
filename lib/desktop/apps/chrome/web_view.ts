import { C } from '../../screen/palette.ts';
import { Field } from '../../ui/field.ts';
import type { Ui } from '../../ui/ui.ts';
import type { Widget } from '../../ui/widget.ts';
import { PAGE_ROWS, PAGE_TOP } from './own_pages.ts';
import type { Block, Page, Visit } from './web.ts';

/** What the user has put into the page of one tab. */
export class PageInput {
  private readonly fields = new Map<string, Field>();
  private readonly checks = new Map<string, boolean>();
  private readonly choices = new Map<string, string>();

  field(name: string, onEnter: () => void): Field {
    const known = this.fields.get(name);
    if (known) {
      known.onEnter = onEnter;
      return known;
    }
    const field = new Field('', { onEnter });
    this.fields.set(name, field);
    return field;
  }

  isChecked(name: string): boolean {
    return this.checks.get(name) ?? false;
  }

  toggle(name: string): void {
    this.checks.set(name, !this.isChecked(name));
  }

  choice(group: string): string {
    return this.choices.get(group) ?? 'Basic';
  }

  choose(group: string, name: string): void {
    this.choices.set(group, name);
  }

  value(name: string): string | boolean {
    const field = this.fields.get(name);
    if (field) return field.text;
    return this.choices.get(name) ?? (name === 'plan' ? this.choice(name) : this.isChecked(name));
  }
}

/** Draws a web page, scrolled by `offset` blocks; Enter in a field presses its button. */
export function viewPage(ui: Ui, page: Page, input: PageInput, visit: Visit, offset: number): void {
  const button = page.blocks.find((block) => block.kind === 'button');
  const enter = () => {
    if (button?.kind === 'button') press(button, visit);
  };
  ui.list(page.blocks, offset, PAGE_ROWS, (block, row) => viewBlock(ui, block, PAGE_TOP + row, input, visit, enter));
}

function press(button: Extract<Block, { kind: 'button' }>, visit: Visit): void {
  if (button.to) visit.go(button.to);
  else button.run?.(visit);
}

function viewBlock(ui: Ui, block: Block, y: number, input: PageInput, visit: Visit, enter: () => void): Widget {
  switch (block.kind) {
    case 'heading':
      return ui.add('heading', 0, y, 15, block.text, { fg: C.title, bg: C.field });
    case 'label':
      return ui.label(0, y, 15, block.text, { bg: C.field });
    case 'link':
      return ui.add('link', 1, y, 9, block.name, {
        fg: C.link,
        bg: C.row,
        edges: true,
        click: () => visit.go(block.to),
      });
    case 'item':
      return ui.item(1, y, 9, block.name, false, () => {});
    case 'entry':
      return viewEntry(ui, block.name, y, input, enter);
    case 'check':
      return ui.check(1, y, 8, block.name, input.isChecked(block.name), () => input.toggle(block.name));
    case 'radio': {
      const { name, group } = block;
      return ui.radio(1, y, 8, name, input.choice(group) === name, () => input.choose(group, name));
    }
    case 'button':
      return ui.button(1, y, 7, block.name, () => press(block, visit));
  }
}

function viewEntry(ui: Ui, name: string, y: number, input: PageInput, enter: () => void): Widget {
  const w = Math.ceil((name.length + 1) / 2);
  ui.label(1, y, w, name, { bg: C.field });
  return ui.entry(1 + w, y, 13 - w, name, input.field(name, enter));
}
