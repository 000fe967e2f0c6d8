/* Live meters. One event stream a page, named by data-stream; `meter`, `hit` and `state` change what is shown and ask
   the page's other parts (htmx: "fresh from:body") to read themselves anew. A page that nobody looks at lets go of its
   stream: a browser has six connections to a host, over all its tabs. */
(function () {
  "use strict";
  var calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  function money(cents) {
    var text = String(Math.abs(cents)).padStart(3, "0");
    return (cents < 0 ? "\u2212" : "") + "$" + text.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ",") + "." + text.slice(-2);
  }
  /* Digits keep their text for copying, reading aloud and printing; the rolling strip is drawn by the style sheet. */
  function show(place, cents) {
    var text = money(cents);
    place.dataset.cents = cents;
    if (!place.classList.contains("rolls")) { if (place.textContent !== text) { place.textContent = text; } return; }
    var parts = place.children, same = parts.length === text.length;
    for (var i = 0; same && i < text.length; i++) { same = (/\d/.test(text[i])) === parts[i].classList.contains("digit"); }
    if (!same) {
      place.textContent = "";
      for (var k = 0; k < text.length; k++) { place.appendChild(document.createElement("span")); }
      parts = place.children;
    }
    for (var n = 0; n < text.length; n++) {
      var digit = /\d/.test(text[n]), name = digit ? "digit d" + text[n] : "";
      if (parts[n].textContent !== text[n]) { parts[n].textContent = text[n]; }
      if (parts[n].className !== name) { parts[n].className = name; }
    }
  }
  function each(selector, work) { document.querySelectorAll(selector).forEach(work); }
  var due = null;
  function fresh() { if (!due) { due = setTimeout(function () { due = null; document.body.dispatchEvent(new CustomEvent("fresh")); }, 1200); } }

  function apply(row) {
    var level = '[data-level="' + CSS.escape(row.link + "/" + row.code) + '"]';
    each(level + " [data-value]", function (place) { show(place, row.value_cents); });
    each(level + " [data-field]", function (place) {
      var value = row[place.dataset.field];
      if (value === undefined) { return; }
      place.textContent = place.dataset.as === "money" ? money(value) : place.dataset.as === "residual" ? "+." + String(value).padStart(6, "0") + "\u00a2" : value.toLocaleString("en-US");
    });
    each(level + " svg.room[data-limit]", function (room) {
      var reset = Number(room.dataset.reset), limit = Number(room.dataset.limit);
      room.lastElementChild.setAttribute("width", Math.max(0, Math.min(100, 100 * (row.value_cents - reset) / (limit - reset))).toFixed(2));
    });
  }
  function hit(award) {
    var level = '[data-level="' + CSS.escape(award.link + "/" + award.level) + '"]';
    each(level, function (box) { box.classList.remove("hit-flash"); void box.offsetWidth; box.classList.add("hit-flash"); });
    each("[data-hit-news]", function (news) { news.textContent = (award.hand || "").replace(/_/g, " ") + " pays " + money(award.paid_cents) + (award.hit ? " (" + award.hit + ")" : ""); });
  }
  function read(work) { return function (event) { work(JSON.parse(event.data), event); fresh(); }; }

  each("[data-value]", function (place) { if (place.classList.contains("rolls") && !calm.matches) { show(place, Number(place.dataset.cents)); } else { place.classList.remove("rolls"); } });
  var streams = {};
  each("[data-stream]", function (part) { (streams[part.dataset.stream] = streams[part.dataset.stream] || []).push(part); });
  Object.keys(streams).forEach(function (address) {
    var source, silence;
    function say(state) {
      streams[address].forEach(function (part) {
        part.querySelectorAll(".live").forEach(function (sign) {
          if (sign.dataset.live !== state) { sign.dataset.live = state; sign.textContent = state; }
        });
      });
    }
    function listen() {
      source = new EventSource(address);
      source.onopen = function () { say("live"); };
      source.onerror = function () {
        say("reconnecting");
        if (source.readyState === EventSource.CLOSED) { clearTimeout(silence); silence = setTimeout(listen, 3000); }
      };
      source.addEventListener("meter", read(apply));
      source.addEventListener("hit", read(hit));
      source.addEventListener("state", read(function (state) {
        each('[data-link-state="' + CSS.escape(state.link || state.code || "") + '"]', function (sign) { sign.textContent = state.state; });
      }));
    }
    function leave() { clearTimeout(silence); clearTimeout(hidden); source.close(); source = null; }
    var hidden;
    document.addEventListener("visibilitychange", function () {
      clearTimeout(hidden);
      if (document.hidden) { hidden = setTimeout(leave, 20000); } else if (!source) { listen(); fresh(); }
    });
    listen();
    window.addEventListener("pagehide", function () { if (source) { leave(); } });
    window.addEventListener("pageshow", function (event) { if (event.persisted && !source) { listen(); fresh(); } });
  });
})();
