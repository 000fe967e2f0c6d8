/* Keys. Loaded before the page is read, so that none that is pressed early is lost: it acts as soon as the page is there. */
(function () {
  "use strict";
  var pending = null;
  function once(act) {
    if (document.readyState === "loading") { document.addEventListener("DOMContentLoaded", act, {once: true}); } else { act(); }
  }
  function typing(target) { return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName); }
  function follow(which) { var link = document.querySelector(which); if (link) { location.href = link.href; } }
  function step(by) {
    var rows = Array.prototype.slice.call(document.querySelectorAll("main a[data-row]"));
    if (!rows.length) { return; }
    var at = rows.indexOf(document.activeElement);
    rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by))].focus();
  }
  var ACTS = {
    "/": function () { var finder = document.getElementById("find"); if (finder) { finder.focus(); finder.select(); } },
    "?": function () { var help = document.getElementById("keys"); if (help && !help.open) { help.showModal(); } },
    "[": function () { follow('a[rel="prev"]'); },
    "]": function () { follow('a[rel="next"]'); },
    "j": function () { step(1); },
    "k": function () { step(-1); }
  };
  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey) { return; }
    if (event.key === "Escape") {
      document.querySelectorAll("details.menu[open]").forEach(function (menu) { menu.open = false; menu.querySelector("summary").focus(); });
      if (typing(event.target)) { event.target.blur(); }
      return;
    }
    if (typing(event.target)) { return; }
    if (pending) {
      clearTimeout(pending); pending = null;
      var section = '[data-key="' + CSS.escape(event.key) + '"]';
      event.preventDefault();
      once(function () { follow(section); });
    } else if (event.key === "g") {
      pending = setTimeout(function () { pending = null; }, 1500);
    } else if (Object.prototype.hasOwnProperty.call(ACTS, event.key)) {
      event.preventDefault();
      once(ACTS[event.key]);
    }
  });
})();
