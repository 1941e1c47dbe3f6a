// How a page begins: with what it carries, or with a sentence that says why it cannot.

/** `show` puts the page into its host; `what` it shows is named where that fails. */
export function start(what: string, show: (host: HTMLElement) => Promise<void>): void {
  const host = document.getElementById("app") as HTMLElement;
  show(host).catch((error: unknown) => {
    const problem = document.createElement("p");
    problem.id = "problem";
    problem.setAttribute("role", "alert");
    problem.textContent = `This page cannot show its ${what}. ${error instanceof Error ? error.message : String(error)}`;
    host.replaceChildren(problem);
  });
}
