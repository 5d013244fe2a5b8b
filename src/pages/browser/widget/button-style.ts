/** Style of the button; the chat adds its own. Colors are variables, so that both follow the scheme. */
export const buttonStyle = `
:host {
  /* Important, so that no rule of the page is stronger. */
  all: initial !important;
  direction: inherit !important;
  --accent: #0b57d0;
  --on-accent: #fff;
  --text: #1b1f24;
  --faint: #57606a;
  --surface: #fff;
  --bubble: #eef1f4;
  --line: #8c959f;
  --link: #0b57d0;
  --error: #b3261e;
  color-scheme: light dark !important;
  font: 16px/1.5 system-ui, sans-serif !important;
}
@media (prefers-color-scheme: dark) {
  :host { --text: #e6e9ed; --faint: #a5adb8; --surface: #15181c; --bubble: #272c33; --line: #7d8590; --link: #8ab4f8; --error: #f2b8b5 }
}
[hidden] { display: none !important }
.launcher, .problem { position: fixed; bottom: 20px; z-index: 2147483000 }
.launcher.right, .problem.right { right: 20px }
.launcher.left, .problem.left { left: 20px }
.launcher {
  display: grid; place-items: center; width: 56px; height: 56px; padding: 0; border: 2px solid var(--surface); border-radius: 50%;
  color: var(--on-accent); background: var(--accent); box-shadow: 0 2px 10px #0006; cursor: pointer;
}
.launcher:focus-visible { outline: 3px solid var(--text); outline-offset: 2px }
.badge {
  position: absolute; top: -4px; inset-inline-end: -4px; min-width: 20px; padding: 0 4px; box-sizing: border-box; border-radius: 10px;
  font: 600 12px/20px system-ui, sans-serif; color: #fff; background: #b3261e;
}
.problem { bottom: 88px; max-width: 240px; margin: 0; padding: 8px 12px; border: 1px solid var(--line); border-radius: 8px; color: var(--text); background: var(--surface) }
`
