// Helpers for elements. Texts are inserted as text, never as HTML.

export const byId = (id) => document.getElementById(id);

export const setup = JSON.parse(byId("setup").textContent);

export function element(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
}

export function copyOf(templateId) {
    return byId(templateId).content.firstElementChild.cloneNode(true);
}

export function show(shown, isVisible) {
    shown.hidden = !isVisible;
}

// Announce a change to screen readers.
export function say(text) {
    byId("status").textContent = text;
}

export function valuesOf(form) {
    return Object.fromEntries(new FormData(form));
}

// Update the list's children to one per item. Existing children are kept, so that they don't lose focus.
export function keepInStep(list, items, make) {
    const known = new Map([...list.children].map((child) => [child.dataset.id, child]));
    const children = items.map((item) => {
        const child = known.get(item.id) ?? make(item);
        child.dataset.id = item.id;
        return child;
    });
    list.replaceChildren(...children);
    return children;
}
