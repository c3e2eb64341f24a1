// Pick lists (commerce/backoffice/picks.py): what the search finds becomes a ticked checkbox.

"use strict";

{
  const $ = django.jQuery;

  function add(box, { id, text }) {
    const rows = box.querySelector(".pick-rows");
    let input = [...rows.querySelectorAll("input")].find((each) => each.value === id);
    if (!input) {
      const row = rows.querySelector("template").content.cloneNode(true);
      input = row.querySelector("input");
      input.value = id;
      row.querySelector("span").textContent = text;
      rows.append(row);
    }
    input.checked = true;
    input.closest(".pick-row").scrollIntoView({ block: "nearest" });
    const status = box.querySelector("[role=status]");
    status.textContent = status.dataset.added.replace("%n", text);
  }

  $(document).on("select2:select", ".pick select", (event) => {
    add(event.target.closest(".pick"), event.params.data);
    $(event.target).val(null).trigger("change");
  });

  // Django takes 1,000 inputs of a form. A list may have as many ids.
  document.addEventListener("formdata", ({ target, formData }) => {
    for (const { dataset } of target.querySelectorAll(".pick")) {
      const ids = formData.getAll(dataset.pick);
      if (ids.length > 0) {
        formData.set(dataset.pick, ids.join(","));
      }
    }
  });
}
