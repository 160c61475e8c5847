// Colours are said once, in console.css; what is drawn on a canvas asks for them here.

let colours = null;

export function colour(name) {
  if (colours === null) {
    colours = new Map();
  }
  if (!colours.has(name)) {
    colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  }
  return colours.get(name);
}

/** Light, dark, or as the system has it. */
export function setTheme(name) {
  if (name === null) {
    delete document.documentElement.dataset.theme;
  } else {
    document.documentElement.dataset.theme = name;
  }
  colours = null;
  window.dispatchEvent(new Event('theme'));
}

export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  colours = null;
  window.dispatchEvent(new Event('theme'));
});

/** A colour between two of `#rrggbb`. */
export function between(from, to, share) {
  const part = at => {
    const a = parseInt(from.slice(at, at + 2), 16);
    const b = parseInt(to.slice(at, at + 2), 16);
    return Math.round(a + (b - a) * share);
  };
  return `rgb(${part(1)} ${part(3)} ${part(5)})`;
}

/** Whether the reader asked for as little motion as possible. */
export function isStill() {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}

/** A canvas of so many pixels of the page, sharp on every screen; its origin is the upper left. */
export function sized(canvas, width, height) {
  const scale = Math.min(3, window.devicePixelRatio || 1);
  const wide = Math.max(1, Math.round(width * scale));
  const high = Math.max(1, Math.round(height * scale));
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const pen = canvas.getContext('2d');
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
}
