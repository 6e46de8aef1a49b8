import { C } from '../../screen/palette.ts';
import { askName } from '../../ui/file_actions.ts';
import type { Ui } from '../../ui/ui.ts';
import type { MenuItem } from '../../ui/widget.ts';
import { App, clampScroll } from '../app.ts';
import { MailDraft } from './mail_draft.ts';
import { askMailPreferences } from './mail_preferences.ts';
import { MAIL_READ, MAIL_REPLIED, MAIL_STARRED, type Mail, MailStore, shortAddress } from './mail_store.ts';

const ROWS = 11;
/** Columns of the folder list. */
const LEFT = 4;

/** The mail program. */
export class ThunderbirdApp extends App {
  private readonly store = new MailStore(this.system.vfs);
  private folder = 'Inbox';
  private page: 'list' | 'mail' | 'compose' = 'list';
  private selected: Mail | null = null;
  private offset = 0;
  private readonly draft = new MailDraft();
  private readonly draftCommands = {
    send: () => this.send(),
    keep: () => this.saveDraft(),
    discard: () => this.show('Inbox'),
  };

  get title(): string {
    return `${this.page === 'compose' ? 'Write' : this.folder} - Mozilla Thunderbird`;
  }

  view(ui: Ui): void {
    ui.fill(0, 1, 15, 1, C.menuBar);
    ui.button(0, 1, 3, 'Write', () => this.compose('', ''));
    ui.button(3, 1, 3, 'Reply', () => this.reply());
    ui.button(6, 1, 3, 'Star', () => this.flip(MAIL_STARRED));
    ui.button(9, 1, 4, 'Delete', () => this.remove());
    ui.menuButton(13, 1, 2, 'Menu', () => this.mainMenu(), { label: '', icon: 'dots' });
    ui.fill(0, 2, LEFT, ROWS, C.tab);
    this.store
      .folders()
      .slice(0, ROWS)
      .forEach((name, row) => {
        const open = name === this.folder && this.page !== 'compose';
        const bg = open ? C.rowSelected : C.tab;
        ui.add('tree-item', 0, 2 + row, LEFT, name, { bg, selected: open, edges: true, click: () => this.show(name) });
      });
    if (this.page === 'compose') this.draft.view(ui, LEFT, this.draftCommands);
    else if (this.page === 'mail') this.viewMail(ui);
    else this.viewList(ui);
  }

  private viewList(ui: Ui): void {
    const mails = this.shownMails();
    this.offset = clampScroll(this.offset, mails.length, ROWS);
    ui.list(mails, this.offset, ROWS, (mail, row) => {
      const starred = (mail.status & MAIL_STARRED) !== 0;
      const unread = (mail.status & MAIL_READ) === 0;
      const icon = starred ? 'star' : unread ? 'envelope' : 'starOff';
      const menu = () => {
        this.selected = mail;
        return this.mailMenu();
      };
      const select = () => {
        this.selected = mail;
      };
      const name = `${shortAddress(this.isOwn ? mail.to : mail.from)} ${mail.subject}`;
      const extra = {
        icon,
        iconFg: starred ? C.star : C.line,
        bg: unread ? C.unread : C.row,
        double: () => this.openMail(mail),
        menu,
        checked: starred,
      } as const;
      return ui.item(LEFT, 2 + row, 11, name, this.selected === mail, select, extra);
    });
  }

  private viewMail(ui: Ui): void {
    const mail = this.selected;
    if (!mail) return;
    ui.label(LEFT, 3, 11, mail.from);
    ui.label(LEFT, 4, 11, mail.subject, { fg: C.title });
    const lines = mail.body.split('\n').slice(0, 5);
    lines.forEach((line, row) => {
      ui.label(LEFT, 6 + row, 11, line, { bg: C.field });
    });
    ui.button(LEFT, 12, 3, 'Back', () => this.show(this.folder));
    ui.button(LEFT + 4, 12, 4, 'Archive', () => this.moveTo('Archive'));
  }

  override key(combo: string): boolean {
    if (this.page === 'compose') {
      if (combo === 'ctrl+enter') this.send();
      return combo === 'ctrl+enter';
    }
    if (combo === 'ctrl+n') this.compose('', '');
    else if (combo === 'ctrl+r') this.reply();
    else if (combo === 'delete') this.remove();
    else if (combo === 's') this.flip(MAIL_STARRED);
    else if (combo === 'enter' && this.selected) this.openMail(this.selected);
    else if (combo === 'esc' && this.page === 'mail') this.show(this.folder);
    else return false;
    return true;
  }

  override scroll(rows: number): void {
    this.offset = clampScroll(this.offset + rows, this.mails().length, ROWS);
  }

  private get isOwn(): boolean {
    return this.folder === 'Sent' || this.folder === 'Drafts';
  }

  private mails(): readonly Mail[] {
    return this.store.read(this.folder);
  }

  private shownMails(): Mail[] {
    return this.system.order(`mails ${this.folder}`, this.mails(), (mail) => `${mail.from} ${mail.to} ${mail.subject}`);
  }

  private show(folder: string): void {
    this.folder = folder;
    this.page = 'list';
    this.selected = null;
    this.focus = null;
    this.offset = 0;
  }

  private openMail(mail: Mail): void {
    this.selected = mail;
    this.setStatus(mail.status | MAIL_READ);
    this.page = 'mail';
  }

  private mailMenu(): MenuItem[] {
    const status = this.selected?.status ?? 0;
    return [
      { name: 'Open', run: () => this.selected && this.openMail(this.selected) },
      { name: 'Star', run: () => this.flip(MAIL_STARRED) },
      { name: 'Mark Read', run: () => this.setStatus(status | MAIL_READ) },
      { name: 'Mark Unread', run: () => this.setStatus(status & ~MAIL_READ) },
      { name: 'Archive', run: () => this.moveTo('Archive') },
      { name: 'Junk', run: () => this.moveTo('Junk') },
      { name: 'Move To', run: () => this.askMove() },
      { name: 'Delete', run: () => this.remove() },
    ];
  }

  private mainMenu(): MenuItem[] {
    return [
      { name: 'New Folder', run: () => this.askFolder() },
      { name: 'Preferences', run: () => askMailPreferences(this.system) },
      { name: 'Mark All Read', run: () => this.markAllRead() },
      { name: 'Empty Trash', run: () => this.store.write('Trash', []) },
    ];
  }

  private askFolder(): void {
    askName(this.system, 'New Folder', 'Create', '', (name) => {
      if (!this.store.folders().includes(name)) this.store.write(name, []);
    });
  }

  private askMove(): void {
    const others = this.store
      .folders()
      .filter((name) => name !== this.folder)
      .slice(0, 10);
    const rows = others.map((name) => ({ kind: 'choice' as const, name, selected: false }));
    const run = () => {
      const chosen = rows.find((row) => row.selected);
      if (chosen) this.moveTo(chosen.name);
    };
    this.system.showDialog({ title: 'Move To', rows, buttons: [{ name: 'Move', run }, { name: 'Cancel' }] });
  }

  /** Puts another mail (or none) in the place of the selected one. */
  private replaceSelected(by: Mail | null): void {
    const { selected } = this;
    const mails = this.mails();
    const at = selected ? mails.indexOf(selected) : -1;
    if (at < 0) return;
    this.store.write(this.folder, by ? mails.with(at, by) : mails.toSpliced(at, 1));
    // The store parses anew: the selection follows by place.
    this.selected = by ? (this.mails()[at] ?? null) : null;
  }

  private setStatus(status: number): void {
    if (this.selected && this.selected.status !== status) this.replaceSelected({ ...this.selected, status });
  }

  private flip(bit: number): void {
    if (this.page !== 'compose' && this.selected) this.setStatus(this.selected.status ^ bit);
  }

  private remove(): void {
    if (this.page === 'compose') return;
    if (this.folder !== 'Trash') this.moveTo('Trash');
    else {
      this.replaceSelected(null);
      this.page = 'list';
    }
  }

  private moveTo(folder: string): void {
    const mail = this.selected;
    if (!mail || folder === this.folder) return;
    this.replaceSelected(null);
    this.append(folder, mail);
    this.page = 'list';
  }

  private append(folder: string, mail: Mail): void {
    this.store.write(folder, [...this.store.read(folder), mail]);
  }

  private markAllRead(): void {
    const read = this.mails().map((mail) => ({ ...mail, status: mail.status | MAIL_READ }));
    this.store.write(this.folder, read);
    this.selected = null;
  }

  private compose(to: string, subject: string): void {
    this.page = 'compose';
    this.selected = null;
    this.focus = this.draft.start(to, subject);
  }

  private reply(): void {
    const mail = this.selected;
    if (!mail || this.page === 'compose') return;
    this.setStatus(mail.status | MAIL_REPLIED | MAIL_READ);
    this.compose(mail.from, `re: ${mail.subject}`);
  }

  private send(): void {
    if (!this.draft.canBeSent) return;
    this.append('Sent', this.draft.mail());
    this.show('Inbox');
  }

  private saveDraft(): void {
    this.append('Drafts', this.draft.mail());
    this.show('Inbox');
  }
}
