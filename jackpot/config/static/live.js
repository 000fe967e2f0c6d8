/* Live meters. One event stream a page, named by data-stream; `meter`, `hit` and `state` change what is shown and ask
   the page's other parts (htmx: "fresh from:body") to read themselves anew. A page that nobody looks at lets go of its
   stream: a browser has six connections to a host, over all its tabs.

   Every live part says how old what it shows is, and that it is stale once nothing has vouched for it for ten seconds:
   `.live` inside data-stream by its events (`beat` vouches where nothing else happens), `.live[data-part]` by the part's
   own readings, whose [data-ages] says how old they were when they were made. A sign above a table is stale after five
   seconds in which it heard nothing at all. */
(function () {
  "use strict";
  var STALE = 10000, SILENT = 4500, TOLD = 60000;
  var aboveATable = document.body.classList.contains("sign");
  var calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  function now() { return performance.now(); }
  function money(cents) {
    var text = String(Math.abs(cents)).padStart(3, "0");
    return (cents < 0 ? "\u2212" : "") + "$" + text.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ",") + "." + text.slice(-2);
  }
  /* Digits keep their text for copying, reading aloud and printing; the rolling strip is drawn by the style sheet. */
  function show(place, cents) {
    var text = money(cents);
    place.dataset.cents = cents;
    if (aboveATable) { place.style.setProperty("--signs", text.length); }   /* a long amount is written smaller, never cut */
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
  /* What was won stands on a sign until it is acknowledged; `beat` says of which that is so. */
  function wins(place, list) {
    var shown = list.slice(0, 3).map(function (win) { return ["WIN", win.table, money(win.paid_cents)]; });
    if (list.length > 3) { shown.push(["and " + (list.length - 3) + " more"]); }
    var text = JSON.stringify(shown);
    if (place.shown === text) { return; }
    place.shown = text;
    place.textContent = "";
    shown.forEach(function (words) {
      var line = document.createElement("p");
      if (words.length === 1) { line.className = "more"; line.textContent = words[0]; }
      else {
        words.forEach(function (word, at) {
          if (at) { line.appendChild(document.createTextNode(" ")); }
          line.appendChild(document.createElement(at ? "span" : "b")).textContent = word;
        });
      }
      place.appendChild(line);
    });
  }
  function won(award) {
    award.told = now();
    each('[data-wins="' + CSS.escape(award.link) + '"]', function (place) {
      place.list = (place.list || []).filter(function (win) { return win.hit !== award.hit; });
      place.list.unshift(award);
      place.list.sort(function (one, other) { return one.hit < other.hit ? 1 : -1; });
      wins(place, place.list);
    });
  }
  var told = null;
  function hit(award) {
    won(award);
    var level = '[data-level="' + CSS.escape(award.link + "/" + award.level) + '"]';
    each(level, function (box) { box.classList.remove("hit-flash"); void box.offsetWidth; box.classList.add("hit-flash"); });
    each("[data-hit-news]", function (news) { news.textContent = (award.hand || "").replace(/_/g, " ") + " pays " + money(award.paid_cents) + (award.hit ? " (" + award.hit + ")" : ""); });
    clearTimeout(told);
    told = setTimeout(function () { each("[data-hit-news]", function (news) { news.textContent = ""; }); }, TOLD);
    document.dispatchEvent(new CustomEvent("alarm"));
  }

  each("[data-value]", function (place) { if (place.classList.contains("rolls") && !calm.matches) { show(place, Number(place.dataset.cents)); } else { place.classList.remove("rolls"); if (aboveATable) { show(place, Number(place.dataset.cents)); } } });

  function aged(seconds) {
    if (seconds < 120) { return seconds + " s"; }
    if (seconds < 7200) { return Math.floor(seconds / 60) + " min"; }
    return seconds < 172800 ? Math.floor(seconds / 3600) + " h" : Math.floor(seconds / 86400).toLocaleString("en-US") + " days";
  }

  /* The oldest of what a sign stands on: when it was last vouched for. `lost` has a word of its own until it is stale. */
  function say(sign, vouched, state, heard) {
    var age = now() - vouched, silent = aboveATable && now() - heard >= SILENT;
    var next = age >= STALE || silent ? "stale" : state, seconds = Math.max(0, Math.floor((silent ? Math.max(age, now() - heard) : age) / 1000));
    if (aboveATable) { document.body.classList.toggle("stale", next === "stale"); }
    if (sign.dataset.live !== next) { sign.dataset.live = next; }
    var text = next === "connecting" ? next : next + ", " + aged(seconds);
    if (sign.textContent !== text) { sign.textContent = text; }
    var aloud = sign.nextElementSibling;                  /* read aloud only when the state changes, not every second */
    if (aloud && aloud.matches("[data-live-heard]") && aloud.textContent !== next) { aloud.textContent = next; }
  }
  var signs = [];                                         /* functions that write a sign anew, every second */

  var streams = {};
  each("[data-stream]", function (part) { (streams[part.dataset.stream] = streams[part.dataset.stream] || []).push(part); });
  Object.keys(streams).forEach(function (address) {
    var source, silence, hidden, state = "connecting", read = now(), heard = now(), settling = null;
    function write() {
      var vouched = settling === null ? read : Math.min(read, settling);
      streams[address].forEach(function (part) { part.querySelectorAll(".live:not([data-part])").forEach(function (sign) { say(sign, vouched, state, heard); }); });
    }
    signs.push(write);
    function became(next) { state = next; write(); }
    function news(work) {
      return function (event) {
        var row = JSON.parse(event.data);
        read = heard = now();
        work(row);
        became("live");
        fresh();
      };
    }
    function beat(event) {
      var ages = JSON.parse(event.data);
      heard = now();
      read = now() - 1000 * (ages.read || 0);             /* none yet: what is shown was read just now */
      if (ages.settling !== null) { settling = now() - 1000 * ages.settling; }
      each("[data-silent]", function (place) {
        var tables = (ages.silent || {})[place.dataset.silent] || [];
        place.hidden = !tables.length;
        place.textContent = tables.length ? "closed at " + tables.join(", ") + ": no contact" : "";
      });
      each("[data-wins]", function (place) {
        var list = (ages.wins || {})[place.dataset.wins] || [];
        var young = (place.list || []).filter(function (win) {   /* told after the beat's look at the record */
          return now() - win.told < 4000 && !list.some(function (other) { return other.hit === win.hit; });
        });
        place.list = young.concat(list);
        wins(place, place.list);
      });
      became("live");
    }
    function listen() {
      source = new EventSource(address);
      source.onerror = function () {
        became("reconnecting");
        if (source.readyState === EventSource.CLOSED) { clearTimeout(silence); silence = setTimeout(listen, 3000); }
      };
      source.addEventListener("beat", beat);
      source.addEventListener("meter", news(apply));
      source.addEventListener("hit", news(hit));
      source.addEventListener("state", news(function (told) {
        each('[data-link-state="' + CSS.escape(told.link || told.code || "") + '"]', function (sign) { sign.textContent = told.state; });
        each('[data-sign="' + CSS.escape(told.link || told.code || "") + '"]', function (sign) { sign.dataset.state = told.state; });
      }));
    }
    function leave() { clearTimeout(silence); clearTimeout(hidden); source.close(); source = null; }
    document.addEventListener("visibilitychange", function () {
      clearTimeout(hidden);
      if (document.hidden) { hidden = setTimeout(leave, 20000); } else if (!source) { listen(); fresh(); }
    });
    listen();
    window.addEventListener("pagehide", function () { if (source) { leave(); } });
    window.addEventListener("pageshow", function (event) { if (event.persisted && !source) { listen(); fresh(); } });
  });

  /* Parts that are read anew: <span class="live" data-part="id"> tells of the part of that id and its [data-ages]. */
  each(".live[data-part]", function (sign) {
    var vouched = 0, settling = null;
    function made() {
      var ages = document.querySelector("#" + CSS.escape(sign.dataset.part) + " [data-ages]");
      if (!ages) { return; }
      vouched = now();
      settling = ages.dataset.settling ? vouched - 1000 * Number(ages.dataset.settling) : null;
    }
    function write() { say(sign, settling === null ? vouched : Math.min(vouched, settling), "live"); }
    made();
    signs.push(write);
    document.body.addEventListener("htmx:afterSwap", function (event) { if (event.target.id === sign.dataset.part) { made(); write(); } });
  });

  /* Ages that go on growing by themselves between two readings: <b data-age="seconds when it was made">. */
  function grow() {
    each("[data-age]", function (place) {
      if (place.since === undefined || place.made !== place.dataset.age) { place.made = place.dataset.age; place.since = now() - 1000 * Number(place.made); }
      var seconds = Math.floor((now() - place.since) / 1000);
      place.textContent = aged(seconds);
    });
  }
  signs.push(grow);
  function tick() { signs.forEach(function (write) { write(); }); }
  tick();
  setInterval(tick, aboveATable ? 250 : 1000);
})();
