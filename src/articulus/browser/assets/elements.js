"use strict";
// Elements of pages, files that are saved, and the style sheet's colors.
(() => {
  const articulus = (globalThis.articulus ??= {});

  // Return an element with attributes and children.
  articulus.make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name in element) element[name] = value;
      else element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  };

  // Give a blob to the user as a file.
  articulus.save = (blob, name) => {
    const link = articulus.make("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };

  // Put text on the clipboard; where the browser does not allow it directly, by a hidden field. Return whether it worked.
  articulus.copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const field = articulus.make("textarea", { value: text });
      document.body.append(field);
      field.select();
      const done = document.execCommand("copy");
      field.remove();
      return done;
    }
  };

  // Return what a function gives while the page has the colors of paper.
  articulus.onPaper = (draw) => {
    const { classList } = document.documentElement;
    const dark = classList.contains("dark");
    classList.remove("dark");
    try {
      return draw();
    } finally {
      classList.toggle("dark", dark);
    }
  };
})();
