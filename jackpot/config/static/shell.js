/* The shell: theme, clock, menus, forms, lists. Everything here is also reachable with a mouse and without this file. */
(function () {
  "use strict";
  /* theme: auto -> light -> dark -> auto */
  var NEXT = {auto: "light", light: "dark", dark: "auto"}, themer = document.getElementById("theme");
  function name() {
    if (!themer) { return; }
    var choice = window.theme.choice();
    themer.setAttribute("aria-label", "Theme: " + choice + ". Change to " + NEXT[choice] + ".");
    themer.title = "Theme: " + choice;
    themer.querySelectorAll("[data-for]").forEach(function (sign) { sign.toggleAttribute("hidden", sign.dataset.for !== choice); });
  }
  if (themer) {
    themer.addEventListener("click", function () { window.theme.choose(NEXT[window.theme.choice()]); });
    document.addEventListener("themechange", name);
    name();
  }

  /* the property's time, counted on from what the server said */
  var face = null, offset = 0, write = null;
  function tick() {
    var there = document.getElementById("clock");
    if (!there) { return; }
    if (there !== face) {                                  /* the header was read anew: only then is it set anew */
      face = there;
      offset = Number(face.dataset.at) - Date.now();
      write = new Intl.DateTimeFormat("en-GB", {hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZone: face.dataset.zone});
    }
    face.textContent = write.format(new Date(Date.now() + offset));
  }
  tick();
  setInterval(tick, 1000);

  var help = document.getElementById("keys");
  var opener = document.getElementById("show-keys");
  if (opener && help) { opener.addEventListener("click", function () { help.showModal(); }); }
  document.addEventListener("click", function (event) {
    document.querySelectorAll("details.menu[open]").forEach(function (menu) { if (!menu.contains(event.target)) { menu.open = false; } });
  });

  /* a one-time link carries its secret behind #, where no log sees it: take it into the form, and out of the address */
  var way = document.querySelector("[data-secret-form]"), carried = location.hash.slice(1);
  if (way && carried) {
    way.elements.secret.value = carried;
    history.replaceState(null, "", location.pathname);
  }
  document.querySelectorAll("[data-select]").forEach(function (field) { field.addEventListener("focus", field.select); if (document.activeElement === field) { field.select(); } });

  /* a column of amounts is typed downwards: Enter and the arrows go on to the next, never off to the server */
  var column = Array.prototype.slice.call(document.querySelectorAll("input[data-down]"));
  column.forEach(function (field, at) {
    field.addEventListener("keydown", function (event) {
      var by = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" || event.key === "Enter" ? 1 : 0, next = column[at + by];
      if (!by || event.ctrlKey || event.metaKey || event.altKey) { return; }
      event.preventDefault();
      if (next) { next.focus(); next.select(); }
    });
  });

  /* a form that somebody came for begins at its first fault, else at the first field that is still empty */
  document.querySelectorAll("form[data-begin]").forEach(function (form) {
    var fields = Array.prototype.slice.call(form.querySelectorAll("input:not([type=hidden]):not([type=file]), select, textarea"));
    var first = fields.find(function (field) { return field.getAttribute("aria-invalid") === "true"; }) || fields.find(function (field) { return field.type === "checkbox" ? !field.checked : !field.value; });
    if (first && !location.hash) { first.focus(); }
  });

  /* what opens beside the page changes it: the page is read anew soon, and when somebody comes back to it */
  document.querySelectorAll("form[data-again]").forEach(function (form) {
    form.addEventListener("submit", function () {
      function again() { location.reload(); }
      window.addEventListener("focus", again, {once: true});
      setTimeout(again, 2000);
    });
  });

  /* lists that are all there are sorted by a click on a heading: <table class="sorts"> */
  function worth(cell) {
    var text = cell ? cell.textContent.trim() : "", number = text.replace(/\u2212/g, "-").replace(/[$,%\s]/g, "");
    return /^-?\d+(\.\d+)?$/.test(number) ? Number(number) : text.toLowerCase();
  }
  function compare(a, b) { return typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1; }
  function sortBy(table, heading) {
    var body = table.tBodies[0], place = heading.cellIndex, up = heading.getAttribute("aria-sort") !== "ascending";
    table.querySelectorAll("thead th[aria-sort]").forEach(function (other) { other.removeAttribute("aria-sort"); });
    heading.setAttribute("aria-sort", up ? "ascending" : "descending");
    Array.prototype.slice.call(body.rows).map(function (row, at) { return {row: row, at: at, worth: worth(row.cells[place])}; })
      .sort(function (a, b) { return (up ? 1 : -1) * compare(a.worth, b.worth) || a.at - b.at; })
      .forEach(function (each) { body.appendChild(each.row); });
  }
  document.querySelectorAll("table.sorts").forEach(function (table) {
    table.querySelectorAll("thead th").forEach(function (heading) {
      if (!heading.textContent.trim()) { return; }
      var button = document.createElement("button");
      button.type = "button";
      button.className = "sorter";
      while (heading.firstChild) { button.appendChild(heading.firstChild); }
      heading.appendChild(button);
      button.addEventListener("click", function () { sortBy(table, heading); });
    });
  });

  /* buttons that only the page itself needs */
  document.querySelectorAll("[data-print]").forEach(function (button) { button.hidden = false; button.addEventListener("click", function () { window.print(); }); });
  document.querySelectorAll("button.who").forEach(function (person) {
    person.addEventListener("click", function () {
      document.getElementById("id_username").value = person.dataset.username;
      document.getElementById("id_password").value = person.dataset.password;
      document.querySelector("form.sign-in").requestSubmit();
    });
  });
})();
