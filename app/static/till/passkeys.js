// Passkeys of this device (WebAuthn): made after signing in, used to unlock. One that gives a secret (the PRF
// extension) opens the vault by itself; any other is verified by the shop, without which the refresh token is worth
// nothing.

import { post } from "./api.js";
import { deviceOfTill } from "./tokens.js";

const SECONDS = 6; // In which the shop gives a challenge, or cannot be reached.
const REFUSED = "The device did not recognise you, or you cancelled. Try again.";

/** A failure that a person can do something about. */
class PasskeyError extends Error { isForPeople = true; }

/** The gesture was refused, or given up. */
class GestureRefused extends PasskeyError { isRefusedGesture = true; }

/** Whether this device has a fingerprint or face reader that pages may use. */
export async function arePossible() {
  if (!window.PublicKeyCredential?.parseCreationOptionsFromJSON) return false;
  return PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable();
}

/** Make a passkey: `{credentialId, secret, salt}`; `secret` is null for one that the shop verifies from now on, as it
    does in a session that is bound to a passkey already (`isBound`). */
export async function makePasskey(isBound = false) {
  const { publicKey, challengeToken } = await post("/v1/auth/passkeys/options", {});
  const salt = crypto.getRandomValues(new Uint8Array(32));
  const options = PublicKeyCredential.parseCreationOptionsFromJSON(publicKey);
  options.extensions = { ...options.extensions, prf: { eval: { first: salt } } };
  options.authenticatorSelection = {
    ...options.authenticatorSelection, authenticatorAttachment: "platform", userVerification: "required",
  };
  const credential = await gesture(() => navigator.credentials.create({ publicKey: options }));
  const credentialId = new Uint8Array(credential.rawId);
  const secret = isBound ? null : await secretOf(credential, credentialId, salt);
  if (!secret) await post("/v1/auth/passkeys", { challengeToken, credential: credential.toJSON() });
  return { credentialId, secret, salt };
}

/** Some authenticators give the secret as the passkey is made, most only as it is used. */
async function secretOf(credential, credentialId, salt) {
  const { prf } = credential.getClientExtensionResults();
  if (!prf?.enabled) return null;
  return prf.results?.first ?? secretOfPasskey({ credentialId, salt });
}

/** Use a passkey that gives a secret. Works without a network. */
export async function secretOfPasskey({ credentialId, salt }) {
  const credential = await assertion({
    challenge: crypto.getRandomValues(new Uint8Array(32)), userVerification: "required", timeout: 60_000,
    allowCredentials: [{ type: "public-key", id: credentialId, transports: ["internal"] }],
    extensions: { prf: { eval: { first: salt } } },
  });
  const secret = credential.getClientExtensionResults().prf?.results?.first;
  if (!secret) throw new PasskeyError("This passkey gave no key. Sign out, and set up quick unlock again.");
  return secret;
}

/** Use a passkey that the shop verifies: what the next refresh sends; null where the shop does not answer. */
export async function assertPasskey(refreshToken) {
  const body = { refreshToken, deviceId: (await deviceOfTill()).id };
  const options = await post("/v1/auth/passkeys/assertionOptions", body, { isOpen: true, seconds: SECONDS })
    .catch((error) => { if (!error.isUncertain) throw error; });
  if (!options) return null;
  const { publicKey, challengeToken } = options;
  const credential = await assertion(PublicKeyCredential.parseRequestOptionsFromJSON(publicKey));
  return { challengeToken, credential: credential.toJSON() };
}

/** Without the shop nobody verifies: the gesture only keeps others from looking. */
export async function gestureAlone({ credentialId }) {
  await assertion({
    challenge: crypto.getRandomValues(new Uint8Array(32)), userVerification: "required", timeout: 60_000,
    allowCredentials: [{ type: "public-key", id: credentialId, transports: ["internal"] }],
  });
}

function assertion(publicKey) { return gesture(() => navigator.credentials.get({ publicKey })); }

async function gesture(perform) {
  try {
    return await perform();
  } catch (error) {
    if (error.name === "NotAllowedError" || error.name === "AbortError") throw new GestureRefused(REFUSED);
    if (error.name === "SecurityError") {
      throw new PasskeyError("Passkeys need https, or the name localhost. Use a PIN at this address.");
    }
    throw error;
  }
}
