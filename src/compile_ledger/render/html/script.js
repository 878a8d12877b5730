"use strict";
// Copy buttons for commands, and a filter and an order for findings. The page is whole without it.
(function () {
  function button(text, action) {
    var made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.addEventListener("click", function () { action(made); });
    return made;
  }

  function copy(block, made) {
    var text = block.querySelector("code").textContent;
    function say(word) {
      made.textContent = word;
      setTimeout(function () { made.textContent = "Copy"; }, 1500);
    }
    if (navigator.clipboard) {
      navigator.clipboard.writeText(text).then(
        function () { say("Copied"); },
        function () { say("Not allowed"); });
    } else {
      window.getSelection().selectAllChildren(block.querySelector("code"));
      say("Selected");
    }
  }

  document.querySelectorAll(".command").forEach(function (block) {
    block.appendChild(button("Copy", function (made) { copy(block, made); }));
  });

  var list = document.querySelector(".findings");
  if (!list || list.children.length < 2) { return; }

  function press(made) {
    made.parentNode.querySelectorAll("button").forEach(function (other) {
      other.setAttribute("aria-pressed", String(other === made));
    });
  }

  function row(label, choices) {
    var made = document.createElement("div");
    made.className = "choices";
    made.append(label);
    choices.forEach(function (choice, index) {
      var one = button(choice[0], function (self) { press(self); choice[1](); });
      one.setAttribute("aria-pressed", String(index === 0));
      made.appendChild(one);
    });
    return made;
  }

  function show(severity) {
    return function () {
      Array.from(list.children).forEach(function (item) {
        item.hidden = severity !== "" && item.dataset.severity !== severity;
      });
    };
  }

  function order(key, sign) {
    return function () {
      Array.from(list.children)
        .sort(function (a, b) { return sign * (a.dataset[key] - b.dataset[key]); })
        .forEach(function (item) { list.appendChild(item); });
    };
  }

  list.before(
    row("Show ", [["all", show("")], ["failures", show("failure")], ["notes", show("note")]]),
    row("Order ", [["rank", order("rank", 1)], ["seconds", order("seconds", -1)],
      ["calls", order("calls", -1)], ["count", order("count", -1)]]));
}());
