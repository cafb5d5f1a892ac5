document.documentElement.classList.add("lively");
addEventListener("error", () => {
if (!document.documentElement.classList.contains("ready")) document.documentElement.classList.remove("lively");
}, true);
