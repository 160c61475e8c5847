// Elements are made here and nowhere else, and every value goes in as text: nothing that a store
// holds is ever read as markup.

const SVG = 'http://www.w3.org/2000/svg';

/**
 * An element with attributes and children. In `props`: `class`, `on` (event → listener), `props`
 * (properties of the object), all else is an attribute; null and false leave it out. Children are
 * elements or values that are written as text.
 */
export function el(tag, props = {}, ...children) {
  return filled(document.createElement(tag), props, children);
}

/** An element of SVG. */
export function svg(tag, props = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), props, children);
}

function filled(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (name === 'on') {
      for (const [type, listener] of Object.entries(value)) {
        node.addEventListener(type, listener);
      }
    } else if (name === 'props') {
      Object.assign(node, value);
    } else if (value !== null && value !== undefined && value !== false) {
      node.setAttribute(name, value === true ? '' : String(value));
    }
  }
  node.append(...children.flat().filter(one => one !== null && one !== undefined));
  return node;
}

/** Puts new children in the place of the old ones. */
export function fill(node, ...children) {
  node.replaceChildren(...children.flat().filter(one => one !== null && one !== undefined));
  return node;
}

/** Sets the text of an element if it has changed, so that a screen reader isn't told twice. */
export function say(node, text) {
  if (node.textContent !== text) {
    node.textContent = text;
  }
}

/** A list of terms and their values. */
export function facts(pairs) {
  return el('dl', { class: 'facts' }, pairs.filter(pair => pair !== null).map(([term, value]) => [
    el('dt', {}, term),
    el('dd', {}, value),
  ]).flat());
}

/** A note that stands for a whole view or part: nothing there, still loading, failed. */
export function note(kind, title, ...lines) {
  return el('div', { class: `note note-${kind}`, role: kind === 'error' ? 'alert' : 'status' },
      el('p', { class: 'note-title' }, title),
      lines.flat().map(line => el('p', {}, line)));
}

/** Copies text, and says so on the button that was pressed. */
export async function copy(button, text) {
  const before = button.dataset.label ?? button.textContent;
  button.dataset.label = before;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'copied';
  } catch {
    // without https the browser gives no clipboard to a page; the text is selected in a box instead
    button.textContent = copyBySelection(text) ? 'copied' : 'not allowed here';
  }
  setTimeout(() => { button.textContent = before; }, 1500);
}

function copyBySelection(text) {
  const box = el('textarea', { class: 'offscreen', 'aria-hidden': 'true' });
  box.value = text;
  document.body.append(box);
  box.select();
  const done = document.execCommand('copy');
  box.remove();
  return done;
}
