import { update } from "../state.js";
import { signIn } from "../session.js";
import { Button, Field, html, Note, Problem, Screen, useAction, useEffect, useState } from "../ui.js";

export function SignIn({ notice }) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [missing, setMissing] = useState({});
  const [enter, isBusy, error] = useAction(async (event) => {
    event.preventDefault();
    const lacks = {
      email: email.trim() ? null : "Enter your e-mail address.",
      password: password ? null : "Enter your password.",
    };
    setMissing(lacks);
    if (lacks.email || lacks.password) return;
    update({ notice: null });
    await signIn(email.trim(), password);
  });
  return html`
    <${Screen} title="Sign in" className="narrow">
      <${Sign} />
      ${notice && html`<${Note} kind="warn">${notice}<//>`}
      <form onSubmit=${enter} novalidate class="stack">
        <${Field} label="E-mail" id="email" type="email" inputmode="email" autocomplete="username" value=${email}
          onInput=${setEmail} error=${missing.email} autocapitalize="none" />
        <${Field} label="Password" id="password" type="password" autocomplete="current-password" value=${password}
          onInput=${setPassword} error=${missing.password} />
        <${Problem}>${error}<//>
        <${Button} kind="primary big" type="submit" isBusy=${isBusy} busy="Signing in…">Sign in<//>
      </form>
    <//>`;
}

/** The till's mark and, from its manifest, whose till it is: nothing else is known before somebody is in. */
function Sign() {
  const [name, show] = useState("");
  useEffect(() => { readName().then(show, () => show("Till")); }, []);
  return html`<p class="sign"><img src=${hrefOf("icon")} alt="" width="56" height="56" /><span>${name}</span></p>`;
}

async function readName() { return (await (await fetch(hrefOf("manifest"))).json()).name; }

function hrefOf(kind) { return document.querySelector(`link[rel="${kind}"]`).href; }
