// The search box of all pages: Ctrl+K or ⌘K opens it, arrow keys choose a finding, Enter opens it, Escape closes.
document.addEventListener("DOMContentLoaded", () => {
  const dialog = document.getElementById("search-dialog");
  if (!dialog) {
    return;
  }
  const box = document.getElementById("search-box");
  const list = document.getElementById("search-findings");
  const note = document.getElementById("search-note");
  const address = box.form.action;
  const WAIT_MS = 150;
  let timer;
  // Answers may arrive in another order than they were asked for.
  let asked = 0;
  let shown = 0;

  function open() {
    if (!dialog.open) {
      dialog.showModal();
    }
    box.select();
  }

  function options() {
    return [...list.querySelectorAll("[role=option]")];
  }

  function choose(option) {
    for (const other of options()) {
      other.setAttribute("aria-selected", String(other === option));
    }
    if (option) {
      box.setAttribute("aria-activedescendant", option.id);
      option.scrollIntoView({ block: "nearest" });
    } else {
      box.removeAttribute("aria-activedescendant");
    }
  }

  function chosen() {
    return options().find((option) => option.getAttribute("aria-selected") === "true");
  }

  async function find() {
    const number = ++asked;
    const answer = await fetch(`${address}?part=1&s=${encodeURIComponent(box.value)}`);
    // A session that has ended answers with the log-in page.
    if (answer.redirected) {
      window.location.reload();
      return;
    }
    const html = answer.ok ? await answer.text() : "";
    if (number < shown) {
      return;
    }
    shown = number;
    list.innerHTML = html;
    const found = options();
    // A list box must have options.
    list.setAttribute("role", found.length > 0 ? "listbox" : "group");
    box.setAttribute("aria-expanded", String(found.length > 0));
    note.textContent = found.length === 1 ? note.dataset.one : note.dataset.many.replace("%n", found.length);
    choose(found[0]);
  }

  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      open();
    }
  });
  for (const link of document.querySelectorAll("[data-opens-search]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      open();
    });
  }
  box.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(find, WAIT_MS);
  });
  box.addEventListener("keydown", (event) => {
    const found = options();
    if ((event.key === "ArrowDown" || event.key === "ArrowUp") && found.length) {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      choose(found[(found.indexOf(chosen()) + step + found.length) % found.length]);
    }
    // Otherwise the first Escape would only empty the box.
    if (event.key === "Escape") {
      event.preventDefault();
      dialog.close();
    }
    if (event.key === "Enter" && chosen()) {
      event.preventDefault();
      chosen().click();
    }
  });
  // A click beside the dialog falls on the dialog itself.
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) {
      dialog.close();
    }
  });
});
