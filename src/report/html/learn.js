// The start of the lesson.

document.documentElement.classList.add("lively");
startBench();
for (const one of document.querySelectorAll(".lessons [data-case]")) {
  one.addEventListener("click", () => byId("bench-title").scrollIntoView());
}
