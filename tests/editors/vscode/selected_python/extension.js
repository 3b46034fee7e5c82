// Answers as the Python extension does when it is asked which Python is selected: the one that a variable names.
const vscode = require('vscode');

const path = process.env.SELECTED_PYTHON;

exports.activate = () => ({
  environments: {
    getActiveEnvironmentPath: () => ({ path }),
    resolveEnvironment: async () => ({ executable: { uri: vscode.Uri.file(path) } }),
  },
});
