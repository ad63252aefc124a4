// Passkeys (WebAuthn): a button has the browser make or use one, and its form sends what the browser answers.
import "./page.js";

const REFUSED = "Your device did not recognise you, or you cancelled. Try again.";
const IMPOSSIBLE = "This browser has no passkeys at this address: they need https, or the name localhost.";

function messageOf(error) {
  if (error.name === "NotAllowedError" || error.name === "AbortError") return REFUSED;
  if (error.name === "InvalidStateError") return "This device has a passkey of yours already.";
  return IMPOSSIBLE;
}

async function answerOf(act, options) {
  if (act === "create") {
    return navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) });
  }
  return navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-passkey]");
  if (!button) return;
  const { form } = button;
  const news = form.querySelector("[data-passkey-news]");
  news.hidden = true;
  button.disabled = true;
  try {
    const credential = await answerOf(button.dataset.passkey, JSON.parse(button.dataset.options));
    form.elements.credential.value = JSON.stringify(credential.toJSON());
    form.requestSubmit();
  } catch (error) {
    news.textContent = messageOf(error);
    news.hidden = false;
    button.disabled = false;
    button.focus();
  }
});

// A page that comes back from the browser's memory can be used again.
window.addEventListener("pageshow", () => {
  for (const button of document.querySelectorAll("[data-passkey]")) button.disabled = false;
});
