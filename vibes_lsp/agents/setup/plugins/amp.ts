// @i-know-the-amp-plugin-api-is-wip-and-very-experimental-right-now
import { spawn } from "node:child_process"

const program = "vibes"

// Gives `vibes hook` an event; a missing program or a failure changes nothing.
function hook(amp: any, name: string, event: any): Promise<void> {
  return new Promise((done) => {
    try {
      const root = amp.system?.workspaceRoot
      const cwd = root ? amp.helpers.filePathFromURI(root) : process.cwd()
      const isTool = name === "tool.result"
      const command = isTool ? amp.helpers.shellCommandFromToolCall?.(event) : undefined
      const changed = isTool ? amp.helpers.filesModifiedByToolCall?.(event) : undefined
      const files = changed?.map((uri: any) => amp.helpers.filePathFromURI(uri))
      const child = spawn(program, ["hook"], { stdio: ["pipe", "ignore", "ignore"] })
      child.on("error", () => done())
      child.on("close", () => done())
      child.stdin.on("error", () => done())
      child.stdin.end(JSON.stringify({ amp: name, cwd, event, command, files }))
    } catch {
      done()
    }
  })
}

export default function (amp: any): void {
  for (const name of ["session.start", "agent.start", "tool.result", "agent.end"]) {
    amp.on(name, (event: any) => hook(amp, name, event))
  }
}
