// What Unfold's pages need to be used by keyboard and with a screen reader.
"use strict";

// Unfold opens its menus by clicks on plain elements, which no key reaches. The area beside the filters isn't a button:
// Escape closes them too.
const CLICKED = "[x-on\\:click]:not(a[href], button, input, select, textarea, summary, label, #changelist-filter-close)";
// A combobox of Select2 is named after its value alone.
const COMBOBOX = ".select2-selection";
// A menu of Unfold's, which a click beside it closes.
const MENU = "[x-show][x-on\\:click\\.outside]";
let opener = null;
let pressed = null;

function nameControls(root) {
  const names = document.getElementById("control-names")?.dataset ?? {};
  for (const control of root.querySelectorAll(CLICKED)) {
    control.tabIndex = 0;
    control.setAttribute("role", "button");
    control.dataset.pressable = "";
  }
  for (const icon of root.querySelectorAll(".material-symbols-outlined:not(:has(*))")) {
    // The text of an icon is its name in the font, such as dock_to_right.
    const text = icon.textContent.trim();
    const control = icon.closest("a[href], button, [data-pressable]");
    if (control && control.textContent.trim() === text && !control.hasAttribute("aria-label")) {
      control.setAttribute("aria-label", names[text.replaceAll("_", "")] ?? (control.title || text));
    }
    if (icon !== control) {
      icon.setAttribute("aria-hidden", "true");
    }
  }
}

function nameComboboxes(root) {
  for (const box of root.querySelectorAll(COMBOBOX)) {
    const value = box.querySelector(".select2-selection__rendered");
    const select = document.getElementById(value.id.replace(/^select2-|-container$/g, ""));
    const name = select?.getAttribute("aria-label") ?? select?.labels?.[0]?.textContent.replace("*", "").trim();
    if (name) {
      value.setAttribute("aria-label", name);
      box.removeAttribute("aria-labelledby");
      box.setAttribute("aria-label", `${name} ${value.title}`.trim());
    }
  }
}

// Select2 opens a box with a search and a list. It names neither, and still uses the attribute of ARIA 1.0 for the list.
function nameOpenCombobox(event) {
  const box = event.target.nextElementSibling.querySelector(COMBOBOX);
  const list = document.getElementById(box.getAttribute("aria-owns"));
  const search = list.closest(".select2-dropdown").querySelector(".select2-search__field");
  box.setAttribute("aria-controls", list.id);
  list.setAttribute("aria-label", box.getAttribute("aria-label"));
  search?.setAttribute("aria-label", box.getAttribute("aria-label"));
}

// Called by templates/unfold/helpers/modal.html. While a dialog is open, no key reaches the page behind it.
function watchDialog(isOpen) {
  const page = document.getElementById("page");
  if (isOpen && !page.inert) {
    opener = document.activeElement;
    page.inert = true;
    Alpine.nextTick(enterDialog);
  } else if (!isOpen && page?.inert) {
    page.inert = false;
    opener.focus();
  }
}

function enterDialog() {
  const dialog = document.getElementById("modal-content");
  if (!dialog.contains(document.activeElement)) {
    (dialog.querySelector("input:not([type=hidden]), select, textarea, [type=submit], a[href]") ?? dialog).focus();
  }
}

function closeMenus() {
  const focused = document.activeElement;
  const menu = [...document.querySelectorAll(MENU)].find((each) => each.checkVisibility());
  if (menu) {
    document.body.click();
    // The focus would be in what is hidden now.
    (menu.contains(focused) ? pressed : focused)?.focus();
  }
}

document.addEventListener("DOMContentLoaded", () => nameControls(document));
// After Django's scripts, which make the comboboxes.
window.addEventListener("load", () => setTimeout(() => nameComboboxes(document)));
// An event of jQuery alone, on pages that have it.
window.addEventListener("load", () => window.django?.jQuery?.(document).on("select2:open", nameOpenCombobox));
document.addEventListener("formset:added", (event) => setTimeout(() => nameComboboxes(event.target)));
document.addEventListener("change", () => nameComboboxes(document));
document.addEventListener("htmx:afterSettle", (event) => {
  nameControls(event.target);
  if (document.getElementById("page")?.inert) {
    enterDialog();
  }
});
document.addEventListener("click", (event) => {
  pressed = event.target.closest("[data-pressable], button") ?? pressed;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    closeMenus();
  } else if ("pressable" in event.target.dataset && (event.key === "Enter" || event.key === " ")) {
    event.preventDefault();
    event.target.click();
  }
});
