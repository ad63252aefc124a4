// Enter in a field beside a button that adds what is typed presses that button.
document.addEventListener("keydown", (event) => {
  const button = document.getElementById(event.target.dataset?.enter);
  if (event.key !== "Enter" || event.ctrlKey || event.metaKey || !button) return;
  event.preventDefault();
  button.click();
});
