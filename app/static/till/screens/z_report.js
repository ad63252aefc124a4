// The Z report of a work session that was just closed. Its user is signed out already.

import { go } from "../navigation.js";
import { printReport } from "../report_printing.js";
import { remove } from "../store.js";
import { update, useApp } from "../state.js";
import { Button, html, Problem, Screen, useAction } from "../ui.js";
import { REPORT } from "../work_session.js";
import { Report } from "./_report.js";

export default function ZReport() {
  const { report } = useApp();
  const [print, isPrinting, error] = useAction(() => printReport(report));
  const [leave] = useAction(async () => {
    await remove("device", REPORT);
    go("/till", { replaces: true });
    update({ report: null });
  });
  return html`
    <${Screen} title="Z report" className="narrow" foot=${html`
      <${Button} kind="big" icon="printer" onPress=${print} isBusy=${isPrinting} busy="Printing…">Print report<//>
      <${Button} kind="primary big" onPress=${leave}>Done<//>`}>
      <${Problem}>${error}<//>
      <${Report} report=${report} level=${2} />
    <//>`;
}
