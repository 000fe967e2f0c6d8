/* Sets light or dark before anything is painted. Stored in this browser: "light", "dark" or nothing for the system's own. */
(function () {
  "use strict";
  var root = document.documentElement, dark = window.matchMedia("(prefers-color-scheme: dark)");
  function chosen() { try { return localStorage.getItem("theme") || "auto"; } catch (e) { return "auto"; } }
  function apply() {
    var choice = chosen();
    root.setAttribute("data-bs-theme", choice === "auto" ? (dark.matches ? "dark" : "light") : choice);
    root.setAttribute("data-theme-choice", choice);
    document.dispatchEvent(new CustomEvent("themechange", {detail: choice}));
  }
  window.theme = {
    choice: chosen,
    choose: function (choice) {
      try { if (choice === "auto") localStorage.removeItem("theme"); else localStorage.setItem("theme", choice); } catch (e) { /* a private window forgets */ }
      apply();
    }
  };
  dark.addEventListener("change", apply);
  apply();
})();
