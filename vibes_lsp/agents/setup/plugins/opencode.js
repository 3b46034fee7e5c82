import { spawn } from "node:child_process"

const program = "vibes"
const sessions = {}

// Gives `vibes hook` an event; a missing program or a failure changes nothing.
function hook(name, session, cwd, values) {
  return new Promise((done) => {
    const child = spawn(program, ["hook"], { stdio: ["pipe", "ignore", "ignore"] })
    child.on("error", done)
    child.on("close", done)
    child.stdin.on("error", done)
    child.stdin.end(JSON.stringify({ opencode: name, cwd, ...sessions[session], ...values }))
  })
}

export const Vibes = async ({ directory }) => ({
  event: async ({ event }) => {
    if (event.type === "session.created") {
      const { id, version, parentID } = event.properties.info
      sessions[id] = { version, parent: parentID }
    } else if (event.type === "session.idle") {
      const input = event.properties
      await hook("session.idle", input.sessionID, directory, { input })
    }
  },
  "chat.message": async (input, output) => {
    const session = input.sessionID
    sessions[session] = { ...sessions[session], model: output.message.model?.modelID }
    await hook("chat.message", session, directory, { input, output })
  },
  "tool.execute.after": async (input, output) => {
    await hook("tool.execute.after", input.sessionID, directory, { input, output })
  },
})
